"use strict";
/* Draws the tables of the page: each figure has one, of bars (lo, hi or a name, and a column for each series) or of a map
 * (a row for each bin of y, a column for each of x). */
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHADES = ["fdefa9", "dce69c", "b9dd95", "95d392", "6fc893", "48bb98", "21ae9c", "029e9d", "008f99", "038094",
    "03718d", "006386", "01557e", "024778", "17386e", "26285e", "2e184b"];
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;

  function make(parent, name, attributes, text) {
    const node = parent.namespaceURI === SVG || name === "svg" ? document.createElementNS(SVG, name)
      : document.createElement(name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  const grouped = text => /^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, "\u2009") : text;

  /* A scale of the figure, which maps lo … hi to from … to. */
  function scaleOf(text, from, to) {
    const { kind, lo, hi, ticks } = JSON.parse(text);
    const way = kind === "log" ? Math.log10 : kind === "sqrt" ? v => Math.sqrt(Math.max(v, 0)) : v => v;
    const a = way(lo), b = way(hi);
    const at = v => from + (way(Math.min(Math.max(v, lo), hi)) - a) / (b - a || 1) * (to - from);
    return { lo, hi, from, to, at, ticks };
  }

  /* The most ticks whose labels, of this size along the scale, are apart. */
  function ticksThatFit(s, size) {
    return s.ticks.find(ticks => {
      let end = -Infinity;
      return ticks.every(([v, text, exponent]) => {
        const at = Math.abs(s.at(v) - s.from), half = size(text + exponent) / 2, clear = at - half >= end;
        end = at + half;
        return clear;
      });
    }) ?? s.ticks[s.ticks.length - 1];
  }

  /* 1.5×10 with the exponent. */
  function label(svg, attributes, text, exponent) {
    const node = make(svg, "text", attributes, text);
    if (exponent) make(node, "tspan", { dy: -5, "font-size": "75%" }, exponent);
  }
  const widthOf = text => text.length * 7.2 + 8;

  const said = cell => cell.textContent.trim();
  /* The number of a cell, which may show a time or a word for it. */
  const number = cell => Number(cell.dataset.v ?? said(cell));

  /* The axes, labels and room of a chart. */
  function frame(figure, chart, key) {
    const width = chart.clientWidth, height = chart.clientHeight;
    const svg = make(chart, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const box = { left: 66, right: width - (key ? 96 : 14), top: 14, bottom: height - 44 };
    return { svg, box, width, height, data: figure.dataset };
  }

  function across(f, x, names) {
    const { svg, box } = f;
    make(svg, "path", { d: `M${box.left} ${box.top}V${box.bottom}H${box.right}`, class: "axis", fill: "none" });
    let end = -Infinity;
    const put = (at, text, exponent = "") => {
      make(svg, "path", { d: `M${at} ${box.bottom}v5`, class: "axis" });
      const half = widthOf(text + exponent) / 2;
      if (at - half < end) return;
      end = at + half;
      label(svg, { x: at, y: box.bottom + 18, "text-anchor": "middle" }, text, exponent);
    };
    if (names) for (const [at, name] of names) put(x.at(at), name.length > 20 ? name.slice(0, 19) + "…" : name);
    else for (const [v, text, exponent] of ticksThatFit(x, widthOf)) put(x.at(v), text, exponent);
    make(svg, "text", { x: (box.left + box.right) / 2, y: f.height - 8, "text-anchor": "middle" }, f.data.x);
  }

  /* names: pairs of a place and its name, instead of numbers. */
  function upward(f, y, grid, names) {
    const { svg, box } = f;
    let end = Infinity;
    for (const [v, name, exponent] of names || ticksThatFit(y, () => 30)) {
      const at = y.at(v);
      if (at > end - 13) continue;
      end = at;
      if (grid) make(svg, "path", { d: `M${box.left} ${at}H${box.right}`, class: "grid" });
      make(svg, "path", { d: `M${box.left} ${at}h-5`, class: "axis" });
      label(svg, { x: box.left - 8, y: at + 4, "text-anchor": "end" },
        names && name.length > 9 ? name.slice(0, 8) + "…" : name, exponent);
    }
    const middle = (box.top + box.bottom) / 2;
    make(svg, "text", { transform: `translate(14 ${middle}) rotate(-90)`, "text-anchor": "middle" }, f.data.y);
  }

  function showTip(chart, tip, x, y, lines) {
    tip.replaceChildren();
    for (const [text, color] of lines) {
      const line = make(tip, "div", {});
      make(line, color ? "span" : "b", color ? { style: `--color:${color}` } : {}, text);
    }
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 12, chart.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 12, chart.clientHeight - tip.offsetHeight))}px`;
  }

  /* point(x, y) and step(dx, dy) choose what the tip tells, by pointer and by keys. */
  function interact(chart, point, step, leave) {
    chart.onpointermove = event => {
      const place = chart.getBoundingClientRect();
      point(event.clientX - place.left, event.clientY - place.top);
    };
    chart.onpointerleave = chart.onblur = leave;
    chart.onkeydown = event => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!move) return;
      step(...move);
      event.preventDefault();
    };
  }

  function readBars(figure) {
    if (figure.bars) return figure.bars;
    const heads = [...figure.querySelectorAll("th")], named = said(heads[0]) === "name", skip = named ? 1 : 2;
    const rows = [...figure.querySelectorAll("tbody tr")].map(row => [...row.cells]);
    const series = heads.slice(skip).map((head, k) => ({
      name: said(head), light: head.dataset.light, dark: head.dataset.dark,
      values: rows.map(cells => number(cells[k + skip])),
    }));
    const names = named ? rows.map(cells => said(cells[0])) : null;
    const edges = named ? rows.map((_, i) => i) : rows.map(cells => number(cells[0]));
    edges.push(named ? rows.length : number(rows[rows.length - 1][1]));
    /* The last row may have fewer bins: it is as high as if it had all. */
    const full = Number(figure.dataset.last || 1);
    for (const s of series) s.heights = s.values.map((v, i) => i === rows.length - 1 ? v * full : v);
    return figure.bars = { rows, names, edges, series };
  }

  function drawBars(figure, chart, tip) {
    const { rows, names, edges, series } = readBars(figure), f = frame(figure, chart, false), { svg, box } = f;
    const x = scaleOf(figure.dataset.across, box.left, box.right), y = scaleOf(figure.dataset.upward, box.bottom, box.top);
    upward(f, y, true);
    const dark = isDark(), colors = series.map(s => dark ? s.dark : s.light);
    const fill = names || series.length === 1 ? 0.5 : series.length > 3 ? 0 : 0.25, zero = y.at(0);
    /* Bins with names have separate bars, those of several series side by side; others are steps. */
    const share = 0.8 / series.length;
    const bar = (i, k, v) => `M${x.at(i + 0.1 + share * k).toFixed(2)} ${zero}V${y.at(v).toFixed(2)}` +
      `H${x.at(i + 0.1 + share * (k + 1)).toFixed(2)}V${zero}Z`;
    series.forEach((s, k) => {
      const d = names ? s.heights.map((v, i) => bar(i, k, v)).join("")
        : `M${x.at(edges[0])} ${zero}` +
          s.heights.map((v, i) => `V${y.at(v).toFixed(2)}H${x.at(edges[i + 1]).toFixed(2)}`).join("") + `V${zero}Z`;
      make(svg, "path", { d, fill: colors[k], "fill-opacity": fill, stroke: colors[k], "stroke-width": fill ? 1.2 : 1.8 });
    });
    across(f, x, names && names.map((name, i) => [i + 0.5, name]));
    const legend = figure.querySelector(".legend");
    legend.replaceChildren();
    if (series.length > 1)
      series.forEach((s, k) => make(legend, "span", { style: `--color:${colors[k]}` }, s.name));
    const mark = make(svg, "rect", { class: "mark", y: box.top, height: box.bottom - box.top, width: 0 });
    let at = -1;
    const show = (i, px, py) => {
      at = Math.max(0, Math.min(i, rows.length - 1));
      const left = x.at(edges[at]), right = x.at(edges[at + 1]);
      mark.setAttribute("x", left);
      mark.setAttribute("width", Math.max(right - left, 1));
      const cells = rows[at], skip = names ? 1 : 2;
      const head = names ? names[at] : `${grouped(said(cells[0]))} … ${grouped(said(cells[1]))}`;
      showTip(chart, tip, px ?? right, py ?? box.top, [[head],
        ...series.map((s, k) => [`${series.length > 1 ? s.name + " " : ""}${grouped(said(cells[k + skip]))}`, colors[k]])]);
    };
    interact(chart, (px, py) => {
      if (px < box.left || px > box.right) return hide();
      let a = 0, b = rows.length - 1;
      while (a < b) {
        const middle = (a + b) >> 1;
        if (x.at(edges[middle + 1]) <= px) a = middle + 1; else b = middle;
      }
      show(a, px, py);
    }, dx => show(at < 0 ? 0 : at + dx), hide);
    function hide() {
      tip.hidden = true;
      mark.setAttribute("width", 0);
    }
  }

  function readHeat(figure) {
    if (figure.heat) return figure.heat;
    const heads = [...figure.querySelectorAll("thead th")].slice(1), rows = [...figure.querySelectorAll("tbody tr")];
    const ends = (cells, last) => [...cells.map(number), Number(last)];
    return figure.heat = {
      x: ends(heads, figure.dataset.xEnd), y: ends(rows.map(row => row.cells[0]), figure.dataset.yEnd),
      values: rows.map(row => [...row.cells].slice(1).map(number)),
      xTold: figure.dataset.toldX && heads.map(said), yTold: figure.dataset.toldY && rows.map(row => said(row.cells[0])),
    };
  }

  function drawHeat(figure, chart, tip) {
    const { x: xs, y: ys, values, xTold, yTold } = readHeat(figure), dark = isDark();
    /* Words stand in the middle of their bin. */
    const told = (names, edges, words) => words && names.map((name, i) => [edges[i] + 0.5, name]);
    const range = (names, edges, i, words) => words ? names[i] : names ? `${names[i]} …`
      : `${+edges[i].toPrecision(7)} … ${+edges[i + 1].toPrecision(7)}`;
    const canvas = make(chart, "canvas", { "aria-hidden": "true" }), f = frame(figure, chart, true), { svg, box } = f;
    const tone = scaleOf(figure.dataset.tones, 0, 1);
    const color = t => {
      const at = (dark ? 1 - t : t) * (SHADES.length - 1), i = Math.min(Math.floor(at), SHADES.length - 2);
      return [0, 2, 4].map(c => {
        const a = parseInt(SHADES[i].substr(c, 2), 16), b = parseInt(SHADES[i + 1].substr(c, 2), 16);
        return Math.round(a + (at - i) * (b - a));
      });
    };
    const x = scaleOf(figure.dataset.across, box.left, box.right), y = scaleOf(figure.dataset.upward, box.bottom, box.top);
    const ratio = devicePixelRatio || 1, pen = canvas.getContext("2d");
    canvas.width = f.width * ratio;
    canvas.height = f.height * ratio;
    values.forEach((row, j) => row.forEach((v, i) => {
      if (!(v > 0)) return;
      const left = Math.round(x.at(xs[i]) * ratio), right = Math.round(x.at(xs[i + 1]) * ratio);
      const top = Math.round(y.at(ys[j + 1]) * ratio), bottom = Math.round(y.at(ys[j]) * ratio);
      pen.fillStyle = `rgb(${color(tone.at(v))})`;
      pen.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
    }));
    upward(f, y, false, told(yTold, ys, figure.dataset.wordsY));
    across(f, x, told(xTold, xs, figure.dataset.wordsX));
    const fade = make(make(svg, "defs", {}), "linearGradient", { id: `fade${figure.dataset.index}`, x1: 0, x2: 0, y1: 1, y2: 0 });
    SHADES.forEach((_, i) => make(fade, "stop", { offset: i / (SHADES.length - 1),
      "stop-color": `rgb(${color(i / (SHADES.length - 1))})` }));
    make(svg, "rect", { x: box.right + 18, y: box.top, width: 14, height: box.bottom - box.top,
      fill: `url(#fade${figure.dataset.index})` });
    const bar = scaleOf(figure.dataset.tones, box.bottom, box.top);
    for (const [v, text, exponent] of ticksThatFit(bar, () => 30))
      label(svg, { x: box.right + 36, y: bar.at(v) + 4 }, text, exponent);
    const mark = make(svg, "rect", { fill: "none", class: "axis", visibility: "hidden", "stroke-width": 2 });
    let at = [0, 0];
    const cell = (edges, s, p) => {
      let i = 0;
      while (i < edges.length - 2 && (s.to > s.from ? s.at(edges[i + 1]) <= p : s.at(edges[i + 1]) > p)) i++;
      return i;
    };
    const hide = () => {
      tip.hidden = true;
      mark.setAttribute("visibility", "hidden");
    };
    const show = (i, j, px, py) => {
      at = [Math.max(0, Math.min(i, xs.length - 2)), Math.max(0, Math.min(j, ys.length - 2))];
      const [a, b] = at, left = x.at(xs[a]), top = y.at(ys[b + 1]);
      for (const [key, value] of Object.entries({ x: left, y: top, width: x.at(xs[a + 1]) - left,
        height: y.at(ys[b]) - top, visibility: "visible" })) mark.setAttribute(key, value);
      showTip(chart, tip, px ?? left, py ?? top, [[grouped(String(values[b][a]))],
        [`${figure.dataset.x}: ${range(xTold, xs, a, figure.dataset.wordsX)}`],
        [`${figure.dataset.y}: ${range(yTold, ys, b, figure.dataset.wordsY)}`]]);
    };
    interact(chart, (px, py) => px < box.left || px > box.right || py < box.top || py > box.bottom ? hide()
      : show(cell(xs, x, px), cell(ys, y, py), px, py), (dx, dy) => show(at[0] + dx, at[1] + dy), hide);
  }

  document.querySelectorAll("figure").forEach((figure, index) => {
    figure.dataset.index = index;
    const chart = figure.querySelector(".chart");
    chart.tabIndex = 0;
    const draw = () => {
      chart.replaceChildren();
      const tip = make(chart, "div", { class: "tip", role: "status" });
      tip.hidden = true;
      (figure.dataset.kind === "heat" ? drawHeat : drawBars)(figure, chart, tip);
    };
    new ResizeObserver(draw).observe(chart);
    systemDark.addEventListener("change", draw);
    addEventListener("beforeprint", draw);
  });
})();
