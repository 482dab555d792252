// results/html/report.js - the report's script: hints at once, tables that sort, pictures that zoom.
// The page reads as well without it. It loads nothing and leaves the page's text alone.
(function () {
    'use strict';
    var SVG = 'http://www.w3.org/2000/svg';
    // of the plots, as in format_html.h
    var LEFT = 110, WIDTH = 1000;

    function all(selector, inside) {
        return Array.prototype.slice.call((inside || document).querySelectorAll(selector));
    }

    function svg(name, attributes, parent) {
        var element = document.createElementNS(SVG, name);
        Object.keys(attributes).forEach(function (key) {
            element.setAttribute(key, attributes[key]);
        });
        parent.appendChild(element);
        return element;
    }

    document.body.className = 'js';

    // ---- hints: a browser shows a title after a second only ----
    var tip = document.createElement('div');
    tip.id = 'tip';
    tip.hidden = true;
    document.body.appendChild(tip);
    all('svg title').forEach(function (title) {
        title.parentNode.setAttribute('data-tip', title.textContent);
        title.parentNode.removeChild(title);
    });
    document.addEventListener('mousemove', function (event) {
        var target = event.target.closest ? event.target.closest('[data-tip]') : null;
        tip.hidden = !target;
        if (!target)
            return;
        tip.textContent = target.getAttribute('data-tip');
        var y = event.clientY + 18;
        if (y + tip.offsetHeight > innerHeight)
            y = event.clientY - tip.offsetHeight - 10;
        tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
        tip.style.top = y + 'px';
    });

    // ---- tables ----
    function value(row, column) {
        var cell = row.cells[column], number = cell.getAttribute('data-v');
        return number === null ? cell.textContent : parseFloat(number);
    }

    function sort(table, column, button) {
        var title = button.parentNode, isUp = title.getAttribute('aria-sort') !== 'ascending';
        var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
        all('th', table).forEach(function (other) {
            other.removeAttribute('aria-sort');
        });
        title.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
        rows.sort(function (p, q) {
            var a = value(p, column), b = value(q, column);
            var order = typeof a === 'string' ? a.localeCompare(b) : a - b;
            return isUp ? order : -order;
        });
        rows.forEach(function (row) {
            body.appendChild(row);
        });
    }

    all('table.sort').forEach(function (table) {
        all('th', table).forEach(function (title, column) {
            if (!title.textContent)
                return;
            var button = document.createElement('button');
            button.type = 'button';
            button.textContent = title.textContent;
            title.textContent = '';
            title.appendChild(button);
            button.addEventListener('click', function () {
                sort(table, column, button);
            });
        });
    });

    // ---- zoom: all pictures of a run show the same part of its time, from..to of WIDTH ----
    function niceStep(x) {
        var power = Math.pow(10, Math.floor(Math.log(x) / Math.LN10)), m = x / power;
        return (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * power;
    }

    function drawAxis(axis, from, to) {
        var span = parseFloat(axis.getAttribute('data-span'));
        var y0 = axis.getAttribute('data-y0'), y1 = axis.getAttribute('data-y1');
        var t0 = from / WIDTH * span, t1 = to / WIDTH * span, step = niceStep((t1 - t0) / 8);
        axis.textContent = '';
        for (var i = Math.ceil(t0 / step - 1e-9); i * step <= t1 + step * 1e-6; i++) {
            var x = LEFT + (i * step - t0) / (t1 - t0) * WIDTH;
            svg('line', {x1: x, x2: x, y1: y0, y2: y1}, axis);
            svg('text', {x: x, y: +y1 + 15, 'class': 'm q'}, axis).textContent =
                String(parseFloat((i * step).toPrecision(8)));
        }
    }

    function stretch(plot, from, to) {
        var height = plot.getAttribute('height');
        plot.setAttribute('viewBox', from + ' 0 ' + (to - from) + ' ' + height);
        all('text', plot).forEach(function (text) {
            var place = text.getAttribute('data-place') || text.getAttribute('transform');
            text.setAttribute('data-place', place);
            text.setAttribute('transform', place + ' scale(' + (to - from) / WIDTH + ' 1)');
        });
    }

    all('.run, .only').forEach(function (run) {
        var plots = all('svg.zoom', run), from = 0, to = WIDTH;

        function show(a, b) {
            from = a;
            to = b;
            plots.forEach(function (plot) {
                stretch(plot, from, to);
            });
            all('.axis', run).forEach(function (axis) {
                drawAxis(axis, from, to);
            });
        }

        plots.forEach(function (plot) {
            var start = null, mark = null;

            function at(event) {
                var point = plot.createSVGPoint();
                point.x = event.clientX;
                point.y = event.clientY;
                point = point.matrixTransform(plot.getScreenCTM().inverse());
                return Math.max(from, Math.min(to, point.x));
            }

            plot.addEventListener('mousedown', function (event) {
                if (event.button !== 0)
                    return;
                start = at(event);
                mark = svg('rect', {y: 0, height: plot.getAttribute('height'), fill: '#1f2328',
                                    'fill-opacity': 0.18}, plot);
                event.preventDefault();
            });
            document.addEventListener('mousemove', function (event) {
                if (start === null)
                    return;
                mark.setAttribute('x', Math.min(start, at(event)));
                mark.setAttribute('width', Math.abs(start - at(event)));
            });
            document.addEventListener('mouseup', function (event) {
                if (start === null)
                    return;
                var end = at(event), begin = start;
                start = null;
                plot.removeChild(mark);
                if (Math.abs(end - begin) >= (to - from) / 200)
                    show(Math.min(begin, end), Math.max(begin, end));
            });
            plot.addEventListener('dblclick', function () {
                show(0, WIDTH);
            });
        });
    });
})();
