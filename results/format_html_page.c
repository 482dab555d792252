/* results/format_html_page.c - the frame of the report: head, style, script. */
#include "config.h"

#include "results/format_html.h"
#include "results/lanes.h"

static const char *const style[] = {
    ":root{color-scheme:light}",
    "*{box-sizing:border-box}",
    "body{margin:0;background:#fff;color:#1f2328;font:15px/1.5 system-ui,-apple-system,'Segoe UI',",
    "Roboto,'Helvetica Neue',Arial,sans-serif;-webkit-print-color-adjust:exact;",
    "print-color-adjust:exact}",
    "main{max-width:1168px;margin:0 auto;padding:28px 24px 48px}",
    "h1{font-size:27px;line-height:1.25;margin:0 0 2px;overflow-wrap:anywhere}",
    "h2{font-size:20px;margin:44px 0 4px;overflow-wrap:anywhere}",
    "h3{font-size:16px;margin:30px 0 6px}",
    "p{margin:6px 0;max-width:80em}",
    "a{color:#0b5394}",
    ".sub{color:#57606a;overflow-wrap:anywhere}",
    ".answer{font-size:19px;margin:18px 0 6px}",
    ".bad{color:#b00020}",
    ".note{color:#57606a;font-size:13px}",
    ".run{border-top:2px solid #d0d7de;margin-top:44px}",
    ".run>h2{margin-top:22px}",
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;",
    "margin:18px 0 14px}",
    ".tile{border:1px solid #d0d7de;border-radius:8px;padding:10px 14px}",
    ".tile b{display:block;font-size:24px;line-height:1.3;font-weight:600;white-space:nowrap}",
    ".tile span{color:#57606a;font-size:13px}",
    ".stack{display:flex;height:26px;border-radius:4px;overflow:hidden;background:#eaeef2;",
    "margin:8px 0 6px}",
    ".stack i{display:block;height:100%}",
    ".stack i+i{border-left:1px solid #fff}",
    ".key{display:flex;flex-wrap:wrap;gap:2px 18px;margin:0 0 8px;padding:0;list-style:none;",
    "font-size:13px}",
    ".key i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}",
    ".key b{font-weight:600}",
    "table{border-collapse:collapse;font-size:14px;margin:8px 0;width:100%;",
    "font-variant-numeric:tabular-nums}",
    "th{text-align:left;font-weight:600;border-bottom:1px solid #8c959f;vertical-align:bottom;",
    "padding:5px 12px 5px 0;white-space:nowrap}",
    "td{padding:4px 12px 4px 0;border-bottom:1px solid #eaeef2;vertical-align:middle}",
    "td.n,th.n{text-align:right;white-space:nowrap}",
    "td.t{overflow-wrap:anywhere;min-width:9em}",
    "td.s{white-space:nowrap}",
    "td.w{min-width:150px;width:34%}",
    "th button{all:unset;cursor:pointer}",
    "th button:hover,th button:focus-visible{text-decoration:underline}",
    "th button[aria-sort]::after{content:' \\2193';color:#57606a}",
    "th button[aria-sort=ascending]::after{content:' \\2191'}",
    ".bar{position:relative;display:flex;height:14px;background:#f0f2f5;border-radius:3px;",
    "overflow:hidden}",
    ".bar i{display:block;height:100%}",
    "figure{margin:6px 0 0;overflow-x:auto}",
    "figcaption{color:#57606a;font-size:13px;margin-top:2px}",
    "svg.chart{display:block;width:100%;min-width:640px;height:auto}",
    "svg.chart+svg.chart{margin-top:12px}",
    "svg text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,",
    "sans-serif;fill:#1f2328}",
    "svg text.q{fill:#57606a}",
    "svg text.r{text-anchor:end}",
    "svg text.m{text-anchor:middle}",
    "svg text.o{font-size:11px;text-anchor:middle;pointer-events:none}",
    "svg .g line{stroke:#dfe3e8}",
    "svg .lane{fill:#f6f8fa}",
    "svg .cap{stroke:#b00020;stroke-width:1.5;stroke-dasharray:6 4}",
    "svg text.capt{fill:#b00020}",
    "pre{background:#f6f8fa;border-radius:6px;padding:10px 14px;font:13px/1.45 ui-monospace,",
    "SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap;",
    "overflow-wrap:anywhere;margin:8px 0}",
    "details{margin:8px 0}",
    "summary{cursor:pointer;color:#0b5394}",
    "li{margin:2px 0}",
    "#tip{position:fixed;z-index:9;pointer-events:none;background:#1f2328;color:#fff;",
    "font-size:13px;line-height:1.4;padding:5px 9px;border-radius:5px;white-space:pre-line;",
    "max-width:420px;overflow-wrap:anywhere}",
    "#tip[hidden]{display:none}",
    ".hint{display:none;color:#57606a;font-size:13px}",
    ".js .hint{display:block}",
    ".js .zoom{cursor:crosshair}",
    "@media(max-width:720px){main{padding:18px 14px}th.w,td.w{display:none}}",
    "@media print{main{max-width:none;padding:0}body{font-size:10pt}.tile b{font-size:18px}",
    ".tiles{grid-template-columns:repeat(4,1fr)}.hint,.js .hint{display:none}",
    "h2,h3{break-after:avoid}figure,table,.tiles,.stack,pre{break-inside:avoid}",
    ".run{break-before:page;border:0}}",
};

/* Runs only when its SHA-256 is the one that the policy below names (Content Security Policy Level 3,
 * W3C): tests/test_report.sh works it out again. */
static const char *const script[] = {
    "(function(){'use strict';",
    "var d=document,all=function(s,e){return Array.prototype.slice.call((e||d)"
    ".querySelectorAll(s));};",
    "d.body.className='js';",
    /* hints at once rather than after a second */
    "var tip=d.createElement('div');tip.id='tip';tip.hidden=true;d.body.appendChild(tip);",
    "all('svg title').forEach(function(t){t.parentNode.setAttribute('data-tip',t.textContent);",
    "t.parentNode.removeChild(t);});",
    "d.addEventListener('mousemove',function(e){",
    "var p=e.target.closest?e.target.closest('[data-tip]'):null;tip.hidden=!p;if(!p)return;",
    "tip.textContent=p.getAttribute('data-tip');",
    "tip.style.left=Math.min(e.clientX+14,innerWidth-tip.offsetWidth-8)+'px';",
    "var y=e.clientY+18;if(y+tip.offsetHeight>innerHeight)y=e.clientY-tip.offsetHeight-10;",
    "tip.style.top=y+'px';});",
    /* tables */
    "all('table.sort').forEach(function(t){var ths=all('th',t);ths.forEach(function(th,i){",
    "if(!th.textContent)return;var b=d.createElement('button');b.type='button';",
    "b.textContent=th.textContent;th.textContent='';th.appendChild(b);",
    "b.addEventListener('click',function(){var up=b.getAttribute('aria-sort')!=='ascending';",
    "all('button',t).forEach(function(x){x.removeAttribute('aria-sort');});",
    "b.setAttribute('aria-sort',up?'ascending':'descending');",
    "var body=t.tBodies[0],rows=Array.prototype.slice.call(body.rows);",
    "var v=function(r){var c=r.cells[i],x=c.getAttribute('data-v');",
    "return x===null?c.textContent:parseFloat(x);};",
    "rows.sort(function(p,q){var a=v(p),b=v(q),c=typeof a==='string'?a.localeCompare(b):a-b;",
    "return up?c:-c;});rows.forEach(function(r){body.appendChild(r);});});});});",
    /* zoom: drag over a plot; all plots of a run share their time */
    "var NS='http://www.w3.org/2000/svg',W=1000;",
    "var step=function(x){var p=Math.pow(10,Math.floor(Math.log(x)/Math.LN10)),m=x/p;",
    "return (m<=1?1:m<=2?2:m<=5?5:10)*p;};",
    "all('.run,.only').forEach(function(run){var plots=all('svg.zoom',run),a=0,b=W;",
    "if(!plots.length)return;",
    "var show=function(){var k=W/(b-a);plots.forEach(function(z){",
    "z.setAttribute('viewBox',a+' 0 '+(b-a)+' '+z.getAttribute('height'));",
    "all('text',z).forEach(function(t){var w=t.getAttribute('data-w');if(!w){",
    "w=t.getAttribute('transform');t.setAttribute('data-w',w);}",
    "t.setAttribute('transform',w+' scale('+1/k+' 1)');});});",
    "all('.axis',run).forEach(function(g){var span=parseFloat(g.getAttribute('data-span')),",
    "y0=g.getAttribute('data-y0'),y1=g.getAttribute('data-y1');g.textContent='';",
    "var t0=a/W*span,t1=b/W*span,s=step((t1-t0)/8),i=Math.ceil(t0/s-1e-9);",
    "for(;i*s<=t1+s*1e-6;i++){var x=110+(i*s-t0)/(t1-t0)*W,l=d.createElementNS(NS,'line'),",
    "n=d.createElementNS(NS,'text');l.setAttribute('x1',x);l.setAttribute('x2',x);",
    "l.setAttribute('y1',y0);l.setAttribute('y2',y1);n.setAttribute('x',x);",
    "n.setAttribute('y',+y1+15);n.setAttribute('class','m q');",
    "n.textContent=String(parseFloat((i*s).toPrecision(8)));g.appendChild(l);g.appendChild(n);}});"
    "};",
    "plots.forEach(function(z){var from=null,mark=null;",
    "var at=function(e){var r=z.getScreenCTM().inverse(),p=z.createSVGPoint();p.x=e.clientX;",
    "p.y=e.clientY;return Math.max(a,Math.min(b,p.matrixTransform(r).x));};",
    "z.addEventListener('mousedown',function(e){if(e.button)return;from=at(e);",
    "mark=d.createElementNS(NS,'rect');mark.setAttribute('y',0);",
    "mark.setAttribute('height',z.getAttribute('height'));mark.setAttribute('fill','#1f2328');",
    "mark.setAttribute('fill-opacity',0.18);z.appendChild(mark);e.preventDefault();});",
    "d.addEventListener('mousemove',function(e){if(from===null)return;var x=at(e);",
    "mark.setAttribute('x',Math.min(x,from));mark.setAttribute('width',Math.abs(x-from));});",
    "d.addEventListener('mouseup',function(e){if(from===null)return;var x=at(e),f=from;from=null;",
    "z.removeChild(mark);if(Math.abs(x-f)<(b-a)/200)return;a=Math.min(x,f);b=Math.max(x,f);"
    "show();});",
    "z.addEventListener('dblclick',function(){a=0;b=W;show();});});});",
    "})();",
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SCRIPT_HASH "sha256-N48BDwLPbVTbRY1ol/DJNkLyUofn+jpyJdMfxOB+ly4="

void fr__html_begin(FILE *f, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src '" SCRIPT_HASH "'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
          f);
    fr__html_text(f, title);
    fputs("</title>\n<style>\n", f);
    for (size_t i = 0; i < N_OF(style); i++)
        fprintf(f, "%s\n", style[i]);
    for (unsigned c = 0; c < FR__N_CATEGORIES; c++)
        fprintf(f, ".c%u{fill:%s}\n", c, fr__category_colour((enum fr__category)c));
    fputs("</style>\n</head>\n<body>\n<main>\n", f);
}

void fr__html_end(FILE *f)
{
    fputs("</main>\n<script>\n", f);
    for (size_t i = 0; i < N_OF(script); i++)
        fprintf(f, "%s\n", script[i]);
    fputs("</script>\n</body>\n</html>\n", f);
}
