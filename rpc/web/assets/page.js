// What every page does: its part comes anew from the node when there is news, and its buttons call.

import { call, fetchPart, say, complain } from './calls.js';
import { filter } from './box.js';
import { listen } from './hub.js';
import { back, lost, out } from './lost.js';
import { morph } from './morph.js';
import { keep } from './place.js';
import { plots } from './plot.js';

const root = document.documentElement.dataset.base;
const part = document.querySelector('[data-part]');

// least is how many milliseconds lie between two times that the part is asked for.
const least = 1000;

let timer = 0;
let due = Infinity;
let busy = false;
let changed = false; // somebody has changed something while the part was asked for
let missed = false; // there were news then
let tag = '';
let askedAt = 0;
let stale = null; // what is said of a part that does not come

// refresh replaces the part by how it is now. fresh: not by how it was a moment ago.
export async function refresh(fresh = false) {
  if (!part) return;
  if (busy) {
    changed = changed || fresh;
    missed = true;
    return;
  }
  busy = true;
  askedAt = performance.now();
  due = Infinity;
  try {
    const got = await fetchPart('ui/part/' + part.dataset.part + location.search, fresh ? '' : tag, fresh);
    stale?.remove();
    stale = null;
    if (got) {
      if (part.querySelector('[data-instead]') && !got.part.querySelector('[data-instead]')) {
        location.reload(); // the whole page is there now
        return;
      }
      tag = got.tag;
      const within = part.contains(document.activeElement);
      morph(part, got.part);
      if (within && !part.contains(document.activeElement)) stay();
      pace();
      filter();
      plots();
    }
  } catch (err) {
    if (err.status === 401) out();
    else if (err.status && !stale?.isConnected) stale = complain(`This is not up to date: ${err.message}. The page tries again by itself.`);
  } finally {
    busy = false;
    plan();
    const late = missed;
    missed = false;
    if (changed) {
      changed = false;
      refresh(true);
    } else if (late) soon();
  }
}

// stay keeps who uses the keyboard in the content, where what had the focus is gone with what it was about.
function stay() {
  document.getElementById('content').focus({ preventScroll: true });
}

// soon asks for the part after news: at once, but not more often than it should be.
function soon() {
  const wait = Math.max(0, askedAt + least - performance.now()) + Math.random() * 200;
  at(performance.now() + wait);
}

// plan asks for the part after the time that it names itself.
function plan() {
  const every = part?.querySelector('[data-every]')?.dataset.every;
  if (every) at(performance.now() + every * 1000);
}

function at(time) {
  if (time >= due) return;
  due = time;
  clearTimeout(timer);
  timer = setTimeout(() => {
    due = Infinity;
    if (!document.hidden) refresh(); // else when it is seen
  }, due - performance.now());
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) soon();
});

// concerns reports whether an event changes what the part shows.
function concerns(event, data) {
  const on = part?.querySelector('[data-on]')?.dataset.on.split(' ') ?? [];
  const id = data?.search?.id ?? data?.id;
  return event === 'reset' || on.includes(event) || (id !== undefined && on.includes('search:' + id) && event !== 'peer');
}

const now = listen(
  (event, data) => {
    if (part && concerns(event, data)) soon();
  },
  ({ state, wait, tries }) => {
    if (state === 'out') out();
    else if (state === 'lost') lost(wait, tries, () => now());
    else {
      back();
      if (part) soon();
    }
  },
);

// paces are the heights of scans, from which their rates are told.
const paces = new Map();

// pace writes how fast scans are whose rate the node does not tell.
function pace() {
  for (const job of document.querySelectorAll('[data-rate]')) {
    const now = performance.now() / 1000;
    const here = { at: now, height: Number(job.dataset.height ?? NaN), progress: Number(job.dataset.progress) };
    const seen = paces.get(job.dataset.rate) ?? [];
    if (seen.length > 0 && seen.at(-1).progress > here.progress) seen.length = 0; // another scan
    seen.push(here);
    while (seen.length > 2 && seen[0].at < now - 60) seen.shift();
    paces.set(job.dataset.rate, seen);
    const first = seen[0];
    const passed = now - first.at;
    const done = here.progress - first.progress;
    let text = '';
    const rate = (here.height - first.height) / passed;
    if (passed > 1 && rate > 0) text += `, ${Math.round(rate).toLocaleString('en')} blocks a second`;
    if (passed > 1 && done > 0) text += `, ${span(((100 - here.progress) * passed) / done)} left`;
    job.querySelector('.speed').textContent = text;
  }
}

function span(seconds) {
  const s = Math.ceil(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

// ticks writes how long ago times were, as the clock of this machine has it.
function ticks() {
  for (const time of document.querySelectorAll('time[title]')) {
    const since = Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000);
    if (!(since >= 60) || since > 7 * 86400 || document.documentElement.classList.contains('stale')) continue;
    const text = `${short(since)} ago`;
    if (time.textContent !== text) time.textContent = text;
  }
}

// short writes a duration of a minute or more in its two largest units, as the server does.
function short(seconds) {
  const m = Math.floor(seconds / 60);
  if (m < 60) return `${m} min`;
  const h = Math.floor(m / 60);
  if (h < 24) return m % 60 ? `${h} h ${m % 60} min` : `${h} h`;
  return h % 24 ? `${Math.floor(h / 24)} d ${h % 24} h` : `${Math.floor(h / 24)} d`;
}

// Buttons that call a method.
document.addEventListener('click', async (e) => {
  const button = e.target.closest('button[data-call]');
  if (!button) return;
  const { call: method, params, wallet, confirm, then } = button.dataset;
  if (confirm && !(await agreed(confirm))) return;
  const name = button.textContent.trim();
  const focused = document.activeElement === button; // which it loses while it is disabled
  button.disabled = true;
  const answer = call(method, JSON.parse(params), wallet);
  if ('long' in button.dataset) setTimeout(() => refresh(true), 400); // it answers when it is done
  try {
    const got = await answer;
    say(`${name}: done`);
    if ('found' in button.dataset) tell(name, got);
    if (then) {
      location.assign(then);
      return;
    }
  } catch (err) {
    complain(`${name}: ${err.message}`);
  }
  button.disabled = false;
  await refresh(true);
  if (!focused || document.activeElement !== document.body) return;
  button.focus();
  if (document.activeElement === document.body) stay(); // the button is gone
});

// tell shows what a look for payments beyond the addresses of a wallet has found. It is not offered again.
function tell(name, got) {
  const here = new URL(location.href);
  here.searchParams.delete('gap');
  history.replaceState(null, '', here);
  const more = got.exhausted ? ' Not all addresses could be derived: there may be more.' : '';
  complain(`${name}: ${got.new_transactions} new transactions, up to block ${got.to_height}.${more}`);
}

// agreed asks whether something should really be done.
function agreed(question) {
  const dialog = document.getElementById('confirm');
  document.getElementById('confirm-text').textContent = question;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener('close', () => done(dialog.returnValue === 'yes'), { once: true });
  });
}

keep();
plan();
pace();
plots();
ticks();
setInterval(ticks, 15000);
if (document.getElementById('new')) import('./new.js');
if (document.getElementById('restore')) import('./restore.js');
