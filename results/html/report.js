// results/html/report.js - the report's script: hints at once, tables that sort, pictures that zoom.
// The page reads as well without it. It loads nothing and leaves the page's text alone.
(function () {
    'use strict';
    var SVG = 'http://www.w3.org/2000/svg';
    // of the plots, as in inline.h; the closest look is a MOST-th of a plot, as in timeline.c
    var LEFT = 110, WIDTH = 1000, MOST = 60;

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
    tip.setAttribute('role', 'status');

    // x, y: of the window
    function say(text, x, y) {
        tip.hidden = !text;
        if (!text)
            return;
        tip.textContent = text;
        tip.style.left = Math.max(8, Math.min(x, innerWidth - tip.offsetWidth - 8)) + 'px';
        tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10
                                                                 : y + 18) + 'px';
    }

    document.addEventListener('mousemove', function (event) {
        var target = event.target.closest ? event.target.closest('[data-tip]') : null;
        say(target && target.getAttribute('data-tip'), event.clientX + 14, event.clientY);
    });

    // ---- tables ----
    function value(row, column) {
        var cell = row.cells[column], number = cell.getAttribute('data-v');
        return number === null ? cell.textContent : parseFloat(number);
    }

    // cells without a number come last in a column of numbers, empty ones in any, whichever way
    function compare(a, b, isUp) {
        if (a === '' || b === '' || typeof a !== typeof b)
            return a === b ? 0 : a === '' || (b !== '' && typeof a === 'string') ? 1 : -1;
        var order = typeof a === 'string' ? a.localeCompare(b) : a - b;
        return isUp ? order : -order;
    }

    function sort(table, column, button) {
        var title = button.parentNode, isUp = title.getAttribute('aria-sort') !== 'ascending';
        var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
        all('th', table).forEach(function (other) {
            other.removeAttribute('aria-sort');
        });
        title.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
        rows.sort(function (p, q) {
            return compare(value(p, column), value(q, column), isUp);
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

    // the style's narrow page, whose charts have larger text
    function isNarrow() {
        return matchMedia('(max-width: 720px)').matches;
    }

    // ---- boxes and points, one by one by keys ----
    function leave(figure) {
        all('.at', figure).forEach(function (box) {
            box.classList.remove('at');
        });
        say('');
    }

    // by: 1 or -1; reveal: shows the place x of a plot, or null
    function step(figure, by, reveal) {
        var boxes = all('[data-tip]', figure), at = boxes.length;
        boxes.forEach(function (box, i) {
            if (box.classList.contains('at'))
                at = i;
        });
        at = at === boxes.length ? (by > 0 ? 0 : at - 1) : at + by;
        leave(figure);
        if (!boxes[at])
            return;
        var box = boxes[at], place;
        if (reveal)
            reveal(parseFloat(box.getAttribute('x')) || 0);
        box.classList.add('at');
        place = box.getBoundingClientRect();
        if (place.top < 0 || place.bottom > innerHeight) {
            box.scrollIntoView({block: 'center'});
            place = box.getBoundingClientRect();
        }
        say(box.getAttribute('data-tip'), place.left, place.bottom - 10);
    }

    // other: what the remaining keys do; returns whether it knows the key
    function listen(figure, reveal, other) {
        figure.addEventListener('keydown', function (event) {
            if (event.ctrlKey || event.altKey || event.metaKey)
                return;
            if (event.key === 'n' || event.key === 'p')
                step(figure, event.key === 'n' ? 1 : -1, reveal);
            else if (event.key === 'Escape')
                leave(figure);
            else if (!other(event.key))
                return;
            event.preventDefault();
        });
        figure.addEventListener('blur', function () {
            leave(figure);
        });
    }

    all('figure.points').forEach(function (figure) {
        listen(figure, null, function () {
            return false;
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
        var height = plot.getAttribute('height'), zoom = WIDTH / (to - from);
        plot.setAttribute('viewBox', from + ' 0 ' + (to - from) + ' ' + height);
        all('text', plot).forEach(function (text) {
            var place = text.getAttribute('data-place') || text.getAttribute('transform');
            text.setAttribute('data-place', place);
            text.setAttribute('transform', place + ' scale(' + 1 / zoom + ' 1)');
        });
        // all boxes have room for their numbers, or none is numbered
        all('.numbers', plot).forEach(function (numbers) {
            if (zoom >= parseFloat(numbers.getAttribute('data-zoom')) * (isNarrow() ? 1.6 : 1))
                numbers.removeAttribute('display');
            else
                numbers.setAttribute('display', 'none');
        });
    }

    all('section').forEach(function (group) {
        var plots = all('svg.zoom', group), from = 0, to = WIDTH;

        function show(a, b) {
            var span = Math.max(WIDTH / MOST, Math.min(WIDTH, b - a));
            from = Math.max(0, Math.min(WIDTH - span, (a + b - span) / 2));
            to = from + span;
            plots.forEach(function (plot) {
                stretch(plot, from, to);
            });
            all('.axis', group).forEach(function (axis) {
                drawAxis(axis, from, to);
            });
        }

        // around the place x
        function zoom(factor, x) {
            show(x - (x - from) * factor, x + (to - x) * factor);
        }

        function move(part) {
            var step = Math.max(-from, Math.min(WIDTH - to, part * (to - from)));
            show(from + step, to + step);
        }

        function act(name) {
            var middle = (from + to) / 2;
            if (name === 'all')
                show(0, WIDTH);
            else if (name === 'in' || name === 'out')
                zoom(name === 'in' ? 1 / 1.6 : 1.6, middle);
            else if (name === 'first')
                show(0, to - from);
            else if (name === 'last')
                show(WIDTH - (to - from), WIDTH);
            else
                move(name === 'left' ? -0.2 : 0.2);
        }

        if (isNarrow())
            show(0, WIDTH);
        addEventListener('resize', function () {
            show(from, to);
        });

        var keys = {ArrowLeft: 'left', ArrowRight: 'right', '+': 'in', '=': 'in', '-': 'out',
                    '0': 'all', Home: 'first', End: 'last'};
        all('figure.time', group).forEach(function (figure) {
            var bar = document.createElement('p');
            bar.className = 'bar-of';
            [['left', '\u2190', 'earlier'], ['right', '\u2192', 'later'], ['in', '+', 'closer'],
             ['out', '\u2212', 'from further away'], ['all', 'all', 'the whole']]
                .forEach(function (word) {
                    var button = document.createElement('button');
                    button.type = 'button';
                    button.textContent = word[1];
                    button.setAttribute('aria-label', word[2]);
                    button.title = word[2];
                    button.addEventListener('click', function () {
                        act(word[0]);
                    });
                    bar.appendChild(button);
                });
            bar.appendChild(document.createTextNode(
                'Drag to look closer, double-click to see all. Keys: \u2190 \u2192 + \u2212 0, ' +
                'n and p for the next and the previous box.'));
            figure.appendChild(bar);
            listen(figure, function (x) {
                if (x < from || x > to)
                    show(x - (to - from) / 4, x + (to - from) * 3 / 4);
            }, function (key) {
                if (keys[key])
                    act(keys[key]);
                return keys[key];
            });
        });

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
                plot.closest('figure').focus({preventScroll: true});
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
            plot.addEventListener('wheel', function (event) {
                if (!event.ctrlKey)
                    return;
                event.preventDefault();
                zoom(event.deltaY < 0 ? 1 / 1.3 : 1.3, at(event));
            }, {passive: false});
        });
    });
})();
