// What a search has found over the height of the chain and over time, by uPlot.

import { bins, decimals, spanText, wholeSteps } from './bins.js';

const { uPlot } = window;

const most = 160; // columns of the plot of amounts
const coin = 1e8;

// Plots keeps what each block has, so that blocks which leave the chain can be taken back.
export class Plots {
  constructor(section) {
    this.section = section;
    this.blocks = new Map();
    this.axis = 'height';
    this.made = [];
    section.querySelectorAll('input[name=axis]').forEach((input) => {
      input.addEventListener('change', () => {
        this.axis = input.value;
        this.draw();
      });
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.fit()).observe(section);
  }

  add(points) {
    for (const p of points) {
      if (p.gone) {
        this.blocks.delete(p.block);
        continue;
      }
      const known = this.blocks.get(p.block);
      if (!known) {
        this.blocks.set(p.block, p);
        continue;
      }
      known.hits += p.hits;
      known.received += p.received;
      known.spent += p.spent;
    }
  }

  draw() {
    for (const plot of this.made) plot.destroy();
    this.made = [];
    const list = [...this.blocks.values()].sort((a, b) => a.height - b.height);
    this.section.hidden = list.length === 0;
    if (list.length === 0) return;
    const amounts = list.some((p) => p.received || p.spent);
    this.flow(list, amounts);
    document.getElementById('balance-figure').hidden = !amounts;
    if (amounts) this.balance(list);
  }

  x(p) {
    return this.axis === 'time' ? p.time : p.height;
  }

  // flow draws what was received upwards, what was spent downwards, and the number of hits.
  flow(list, amounts) {
    const place = document.getElementById('flow');
    const { low, high, step, columns } = bins(list, (p) => this.x(p), most);
    const xs = columns.map((bin) => bin.x);
    const column = (f) => columns.map(f);
    const c = colours();
    const bars = uPlot.paths.bars({ size: [0.7, 14], align: 0 });
    const series = [this.first((i) => spanText(columns[i], (x) => this.write(x)))];
    const data = [xs];
    if (amounts) {
      series.push({ label: 'received', scale: 'amount', stroke: c.in, fill: c.in, width: 0, paths: bars, points: { show: false }, value: amountText });
      series.push({ label: 'spent', scale: 'amount', stroke: c.out, fill: c.out, width: 0, paths: bars, points: { show: false }, value: amountText });
      data.push(column((b) => b.received / coin), column((b) => -b.spent / coin));
    }
    series.push({ label: 'hits', scale: 'hits', stroke: c.ink, width: 1.25, points: { show: true, size: 5, fill: c.ink }, paths: () => null, value: (u, v) => v ?? '–' });
    data.push(column((b) => b.hits));
    const axes = [this.axisOf(c)];
    if (amounts) axes.push(axis(c, { scale: 'amount', size: 76, values: amountTicks }));
    axes.push(axis(c, { scale: 'hits', side: amounts ? 1 : 3, grid: { show: false }, size: 48, incrs: wholeSteps }));
    const pad = (high - low) * 0.02 + step;
    const scales = { x: { time: this.axis === 'time', range: [low - pad, high + pad] }, hits: { range: (u, min, max) => [0, max * 1.15 + 0.5] } };
    this.made.push(new uPlot({ ...size(place), scales, axes, series, cursor: cursor() }, data, place));
    const sum = (f) => list.reduce((n, p) => n + f(p), 0);
    document.getElementById('flow-text').textContent =
      `${sum((p) => p.hits)} hits in ${list.length} blocks from height ${list[0].height} to ${list.at(-1).height}` +
      (amounts ? `, received ${(sum((p) => p.received) / coin).toFixed(8)}, spent ${(sum((p) => p.spent) / coin).toFixed(8)}.` : '.');
  }

  // balance draws what is left, block by block.
  balance(list) {
    const place = document.getElementById('balance');
    const c = colours();
    let left = 0;
    const xs = [];
    const ys = [];
    for (const p of list) {
      left += p.received - p.spent;
      const x = this.x(p);
      if (xs.length > 0 && x <= xs.at(-1)) {
        ys[ys.length - 1] = left / coin; // times of blocks may go back a little
        continue;
      }
      xs.push(x);
      ys.push(left / coin);
    }
    const places = [...xs];
    if (xs.length === 1) { // a line needs two ends
      places.push(xs[0]);
      xs.push(xs[0] + 1);
      ys.push(ys[0]);
    }
    const series = [
      this.first((i) => this.write(places[i])),
      { label: 'balance', stroke: c.in, width: 1.75, fill: c.tint, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: amountText },
    ];
    const pad = (xs.at(-1) - xs[0]) * 0.02;
    const scales = { x: { time: this.axis === 'time', range: [xs[0] - pad, xs.at(-1) + pad] }, y: { range: (u, min, max) => [Math.min(0, min * 1.1), Math.max(max * 1.1, 1e-8)] } };
    this.made.push(new uPlot({ ...size(place), scales, axes: [this.axisOf(c), axis(c, { size: 76, values: amountTicks })], series, cursor: cursor() }, [xs, ys], place));
    document.getElementById('balance-text').textContent = `${(left / coin).toFixed(8)} at height ${list.at(-1).height}.`;
  }

  // first is the series of the horizontal axis; text says where the n-th value is from.
  first(text) {
    return { label: this.axis, value: (u, v, series, n) => (n == null ? '–' : text(n)) };
  }

  // write writes a place on the horizontal axis.
  write(x) {
    if (this.axis === 'time') return new Date(x * 1000).toISOString().slice(0, 16).replace('T', ' ');
    return x.toLocaleString('en');
  }

  axisOf(c) {
    return axis(c, this.axis === 'time' ? {} : { incrs: wholeSteps, values: (u, list) => list.map((v) => v.toLocaleString('en')) });
  }

  fit() {
    for (const plot of this.made) plot.setSize(size(plot.root.parentElement));
  }
}

function cursor() {
  return { y: false, points: { size: 7 } };
}

function size(place) {
  return { width: Math.max(200, place.clientWidth), height: Math.max(160, place.clientHeight - 34) };
}

function axis(c, more) {
  return { stroke: c.dim, font: c.font, grid: { stroke: c.line, width: 1 }, ticks: { stroke: c.line, width: 1, size: 4 }, ...more };
}

// amountTicks writes the amounts of an axis with as many decimals as tell them apart.
function amountTicks(u, list) {
  const digits = decimals(list.length > 1 ? list[1] - list[0] : 1);
  return list.map((v) => v.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

function amountText(u, v) {
  return v == null ? '–' : v.toFixed(8);
}

// colours are those of the page, as they are now.
function colours() {
  const probe = document.createElement('span');
  document.body.append(probe);
  const get = (name) => {
    probe.className = 'colour-' + name;
    return getComputedStyle(probe).color;
  };
  const c = { ink: get('ink'), dim: get('dim'), line: get('line'), in: get('accent'), out: get('out'), tint: get('tint') };
  probe.remove();
  const root = parseFloat(getComputedStyle(document.documentElement).fontSize);
  c.font = `${Math.round(root * 0.75)}px ${getComputedStyle(document.body).fontFamily}`;
  return c;
}
