// The page of a search: its entries as they come, and the plots of them.

import { fetchPart, say } from './calls.js';
import { Plots } from './plots.js';

const place = document.querySelector('[data-entries]');
const id = place.dataset.entries;
const limit = Number(place.dataset.limit);
const rows = document.getElementById('entries');
const unconfirmed = document.getElementById('unconfirmed');
const count = document.getElementById('entries-count');
const table = document.getElementById('entries-table');
const plots = new Plots(document.querySelector('[data-plots]'));

let cursor = '';
let total = 0;
let busy = false;
let again = false;
let begun = false;

// more reads the entries behind the cursor, until there are none.
async function more() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  again = false;
  let fresh = 0;
  try {
    for (let left = true; left; ) {
      const got = await fetchPart(`ui/part/entries?id=${encodeURIComponent(id)}&cursor=${encodeURIComponent(cursor)}`);
      const part = got.part.firstElementChild;
      cursor = part.dataset.cursor;
      left = part.dataset.more === 'true';
      fresh += Number(part.dataset.count);
      plots.add(JSON.parse(part.dataset.points));
      show(part);
      if (left) count.textContent = `Reading the entries: ${(total + fresh).toLocaleString('en')} so far…`;
    }
    total += fresh;
    tell(fresh);
    if (fresh || !begun) plots.draw();
    begun = true;
  } catch (err) {
    count.textContent = err.message;
    setTimeout(more, 5000);
  } finally {
    busy = false;
    if (again) setTimeout(more, 500);
  }
}

// show puts new rows above those that are there, and keeps as many as a reader may want to look at.
function show(part) {
  const fresh = part.querySelector('#new-entries').children;
  if (begun) for (const row of fresh) row.classList.add('arrived');
  rows.prepend(...fresh);
  while (rows.children.length > limit) rows.lastElementChild.remove();
  unconfirmed.replaceChildren(...part.querySelector('#new-unconfirmed').children);
  table.hidden = rows.children.length + unconfirmed.children.length === 0;
}

function tell(fresh) {
  const all = total.toLocaleString('en');
  if (total === 0) count.textContent = 'Nothing has been found so far.';
  else if (total > limit) count.textContent = `The newest ${limit} of ${all} entries; an export has all.`;
  else count.textContent = `${all} ${total === 1 ? 'entry' : 'entries'}, the newest first.`;
  if (begun && fresh) say(`${fresh} new ${fresh === 1 ? 'entry' : 'entries'}`);
}

document.addEventListener('news', (e) => {
  const { event, data } = e.detail;
  if (data?.removed) return; // there is nothing to read any more
  if (event === 'reset' || (data?.search?.id ?? data?.id) === id) more();
});
document.querySelector('[data-part]').addEventListener('refreshed', more);
more();
