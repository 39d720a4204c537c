// The form of a new search: its lines are checked by the node while they are typed.

import { ask, call, parse } from './calls.js';

const form = document.getElementById('new');
const objects = document.getElementById('objects');
const checked = document.getElementById('checked');
const problem = document.getElementById('new-problem');
const root = document.documentElement.dataset.base;
const { last, gap, name, start, stop, follow, mempool, blocks } = form.elements;

let state = null; // what was said of the lines
let asked = 0;
let timer = 0;

// check asks what the lines stand for, and shows it. It is false where that cannot be known.
async function check() {
  clearTimeout(timer);
  const number = ++asked;
  const lines = objects.value;
  if (!lines.trim()) {
    checked.replaceChildren();
    state = null;
    sum();
    return true;
  }
  let body;
  let failed = '';
  try {
    const response = await ask('ui/check', { method: 'POST', body: new URLSearchParams({ objects: lines }) });
    body = await response.text();
    if (!response.ok) failed = body || `The lines could not be checked (${response.status}).`;
  } catch (err) {
    failed = err.message;
  }
  if (number !== asked) return true; // more was typed meanwhile
  if (failed) {
    problem.textContent = failed;
    return false;
  }
  problem.textContent = '';
  const off = new Set([...checked.querySelectorAll('input[name=desc]:not(:checked)')].map((i) => i.value));
  state = parse(body).firstElementChild;
  for (const input of state.querySelectorAll('input[name=desc]')) input.checked = !off.has(input.value);
  checked.replaceChildren(state);
  sum();
  return true;
}

function chosen() {
  return [...checked.querySelectorAll('input[name=desc]:checked')];
}

// sum shows the range where there is a wildcard, and how many scripts will be looked for.
function sum() {
  const ranged = chosen().some((i) => i.dataset.ranged === 'true');
  document.getElementById('range-field').hidden = !ranged;
  document.getElementById('gap-field').hidden = !ranged;
  let scripts = 0;
  for (const i of chosen()) {
    scripts += Math.max(1, Number(i.dataset.paths)) * (i.dataset.ranged === 'true' ? Number(last.value) + 1 : 1);
  }
  document.getElementById('scripts').textContent = scripts ? `${scripts.toLocaleString('en')} ${scripts === 1 ? 'script' : 'scripts'}` : '';
}

objects.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(check, 300);
});
checked.addEventListener('change', sum);
last.addEventListener('input', sum);
form.addEventListener('click', (e) => {
  const preset = e.target.closest('[data-last]');
  if (!preset) return;
  last.value = preset.dataset.last;
  sum();
});
follow.addEventListener('change', () => {
  stop.disabled = follow.checked;
});

form.addEventListener('submit', async (e) => {
  e.preventDefault();
  if (!(await check())) return undefined;
  if (!state) {
    return refuse('Say what to look for.', objects);
  }
  if (state.dataset.good !== 'true') {
    return refuse('Some lines are not understood: see what is said of them.', objects);
  }
  const scan = chosen().map((i) => {
    if (i.dataset.ranged !== 'true') return i.value;
    const object = { desc: i.value, range: Number(last.value) };
    if (gap.value && !hasGap(i.value)) object.gap = Number(gap.value);
    return object;
  });
  if (scan.length === 0) {
    return refuse('Choose at least one of the descriptors.', objects);
  }
  for (const field of [last, gap, start, stop]) {
    if (field.disabled || field.closest('[hidden]')) continue;
    if (!field.checkValidity()) return refuse(field.validationMessage, field);
  }
  const options = {};
  if (Number(start.value) > 0) options.start_height = Number(start.value); // else what descriptors say of it counts
  if (name.value) options.name = name.value;
  if (!follow.checked && stop.value) options.stop_height = Number(stop.value);
  if (follow.checked) options.follow = true;
  if (mempool.checked) options.mempool = true;
  if (blocks.checked) options.entries = false;
  const button = document.getElementById('start-search');
  button.disabled = true;
  try {
    const made = await call('createsearch', [scan, options]);
    location.assign(`${root}ui/search/${encodeURIComponent(made.id)}`);
  } catch (err) {
    refuse(err.message, objects);
    button.disabled = false;
  }
  return undefined;
});

// hasGap tells whether a descriptor says its gap limit itself (BIP393).
function hasGap(desc) {
  return /\)\?(?:[^#]*&)?gl=/.test(desc);
}

function refuse(text, field) {
  problem.textContent = text;
  field.focus();
}

if (objects.value) check();
