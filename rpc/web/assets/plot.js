// A plot tells the exact blocks, amounts and balance under the pointer, and by the arrow keys. Its shapes are the server's.

const group = (n) => n.toLocaleString('en-US');

// amount writes an amount of the smallest unit, without rounding.
export function amount(sat, unit) {
  const sign = sat < 0 ? '−' : '';
  const all = Math.abs(sat);
  if (unit === 'sat') return `${sign}${group(all)} sat`;
  return `${sign}${group(Math.floor(all / 1e8))}.${String(all % 1e8).padStart(8, '0')} BTC`;
}

function line(name, text, cls = '') {
  const words = document.createElement('span');
  words.textContent = name;
  const value = document.createElement('b');
  value.textContent = text;
  value.className = cls;
  return [words, value];
}

// tell makes the words for one place of a plot.
function tell(tip, unit, [first, last, time, received, spent, balance]) {
  const where = document.createElement('span');
  where.className = 'w';
  const blocks = first === last ? `Block ${group(first)}` : `Blocks ${group(first)} to ${group(last)}`;
  where.textContent = `${blocks}, ${new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' ')}`;
  const parts = [where];
  if (received) parts.push(...line('Received', amount(received, unit), 'amt in'));
  if (spent) parts.push(...line('Spent', amount(spent, unit), 'amt out'));
  tip.replaceChildren(...parts, ...line('Balance', amount(balance, unit)));
}

const attended = new WeakSet();

// attend has a plot answer pointers and keys. What the plot shows is read anew each time: it may have changed.
function attend(area) {
  area.tabIndex = 0;
  if (attended.has(area)) return;
  attended.add(area);
  let at = -1;
  const parts = () => {
    let rule = area.querySelector('.cross-line');
    let tip = area.querySelector('.tipbox');
    if (!rule) {
      rule = document.createElement('div');
      rule.className = 'cross-line';
      tip = document.createElement('div');
      tip.className = 'tipbox';
      tip.setAttribute('role', 'status');
      area.append(rule, tip);
    }
    return { rule, tip };
  };
  const show = (data, i) => {
    at = Math.max(0, Math.min(data.pts.length - 1, i));
    const { rule, tip } = parts();
    const point = data.pts[at];
    const value = data.axis === 'time' ? point[2] : point[1];
    const x = ((value - data.lo) / (data.hi - data.lo)) * area.clientWidth;
    rule.style.left = `${x}px`;
    tell(tip, data.unit, point);
    const left = x + (x > area.clientWidth / 2 ? -tip.offsetWidth - 10 : 10);
    tip.style.left = `${Math.max(0, Math.min(area.clientWidth - tip.offsetWidth, left))}px`;
  };
  const hide = () => area.querySelectorAll('.cross-line, .tipbox').forEach((e) => e.remove());
  const read = () => JSON.parse(area.dataset.plot);
  area.addEventListener('pointermove', (e) => {
    const data = read();
    const where = data.lo + ((e.clientX - area.getBoundingClientRect().left) / area.clientWidth) * (data.hi - data.lo);
    let i = data.pts.findLastIndex((p) => (data.axis === 'time' ? p[2] : p[1]) <= where);
    if (i < 0) i = 0;
    show(data, i);
  });
  area.addEventListener('pointerleave', hide);
  area.addEventListener('blur', hide);
  area.addEventListener('focus', () => {
    const data = read();
    if (area.matches(':focus-visible')) show(data, at < 0 ? data.pts.length - 1 : at);
  });
  area.addEventListener('keydown', (e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[e.key];
    if (!by) return;
    e.preventDefault();
    show(read(), at + by);
  });
}

// plots attends to all plots that there are now.
export function plots() {
  document.querySelectorAll('[data-plot]').forEach(attend);
}
