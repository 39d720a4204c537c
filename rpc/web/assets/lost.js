// What a page looks like that is not up to date: the node does not answer, or the session has ended.

import { complain, say } from './calls.js';

const live = document.getElementById('live');
const title = document.title;
const showFor = 5 * 60 * 1000; // after the session has ended

let since = null; // when the connection was lost
let banner = null;
let ticking = 0;
let gone = false;

function clock(time) {
  return time.toTimeString().slice(0, 8);
}

// grey has nothing look fresh, and nothing be pressed.
function grey(on) {
  document.documentElement.classList.toggle('stale', on);
  for (const button of document.querySelectorAll('button[data-call]')) {
    if (on && !button.disabled) {
      button.disabled = true;
      button.dataset.lost = 'yes';
    } else if (!on && button.dataset.lost) {
      button.disabled = false;
      delete button.dataset.lost;
    }
  }
  document.title = on ? `⚠ ${title}` : title;
}

// lost tells that a try has failed, and counts down to the next one.
export function lost(wait, tries, again) {
  if (gone) return;
  since ??= new Date();
  live.dataset.state = 'lost';
  live.querySelector('.word').textContent = 'not connected';
  if (tries < 2) return; // a moment's break is none
  grey(true);
  if (!banner?.isConnected) {
    banner = complain('', { text: 'Try now', press: again });
    banner.className = 'bad banner';
  }
  clearInterval(ticking);
  const end = performance.now() + wait;
  const tell = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    banner.querySelector('span').textContent = `No connection to the node since ${clock(since)}. What you see is as of then. ${left ? `Trying again in ${left} s.` : 'Trying …'}`;
  };
  tell();
  ticking = setInterval(tell, 1000);
}

// back tells that the connection is there again.
export function back() {
  live.dataset.state = 'on';
  live.querySelector('.word').textContent = 'live';
  since = null;
  clearInterval(ticking);
  if (!banner) return;
  grey(false);
  const told = banner;
  banner = null;
  if (told.isConnected) {
    told.className = 'good';
    told.querySelector('span').textContent = 'Connected again.';
    told.querySelector('button')?.remove();
    setTimeout(() => told.remove(), 3000);
  }
  say('Connected again');
}

// out tells that the session has ended. What it showed goes after a while: nobody may be there any more.
export function out() {
  if (gone) return;
  gone = true;
  clearInterval(ticking);
  banner?.remove();
  live.dataset.state = 'lost';
  live.querySelector('.word').textContent = 'signed out';
  grey(true);
  complain('You are signed out: the session has ended.', { text: 'Sign in', href: location.href });
  setTimeout(() => document.getElementById('content').replaceChildren(), showFor);
}
