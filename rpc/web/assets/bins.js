// What the columns of a plot stand for, and how its numbers are written. Nothing here draws.

// bins puts blocks, in the order of their heights, into at most so many columns of equal width. A column has the blocks
// that it sums, the first and the last of their places on the axis, and its own place between these.
export function bins(list, x, most) {
  let low = Infinity;
  let high = -Infinity;
  for (const p of list) {
    low = Math.min(low, x(p));
    high = Math.max(high, x(p));
  }
  const step = Math.max(1, Math.ceil((high - low + 1) / most));
  const found = new Map();
  for (const p of list) {
    const at = x(p);
    const n = Math.floor((at - low) / step);
    let bin = found.get(n);
    if (!bin) {
      bin = { first: at, last: at, blocks: 0, received: 0, spent: 0, hits: 0 };
      found.set(n, bin);
    }
    bin.first = Math.min(bin.first, at);
    bin.last = Math.max(bin.last, at);
    bin.blocks += 1;
    bin.received += p.received;
    bin.spent += p.spent;
    bin.hits += p.hits;
  }
  const columns = [...found.values()].sort((a, b) => a.first - b.first);
  for (const bin of columns) bin.x = (bin.first + bin.last) / 2;
  return { low, high, step, columns };
}

// spanText says of which blocks a column is: of one, or the sum of several.
export function spanText(bin, write) {
  if (bin.blocks === 1) return write(bin.first);
  const span = bin.first === bin.last ? write(bin.first) : `${write(bin.first)} to ${write(bin.last)}`;
  return `${span} (sum of ${bin.blocks} blocks)`;
}

// decimals returns how many decimals the multiples of a step have, up to 8.
export function decimals(step) {
  for (let n = 0; n < 8; n += 1) {
    const scaled = Math.abs(step) * 10 ** n;
    const whole = Math.round(scaled);
    if (whole > 0 && Math.abs(scaled - whole) < 1e-6 * scaled) return n;
  }
  return 8;
}

// wholeSteps are the distances between ticks of numbers that are counted, such as heights.
export const wholeSteps = [1, 2, 5].flatMap((n) => Array.from({ length: 10 }, (_, i) => n * 10 ** i)).sort((a, b) => a - b);
