// Where the pages of the session are: an address that the node has told this browser alone. It is kept for the other tabs,
// in a store that no other port of the host can read.

const here = new URL(document.documentElement.dataset.base, location.href).pathname;
const [, root, place] = here.match(/^(.*?\/)(ui\/~[\w-]+\/)?$/);
const name = `trawl ${root}`;

// keep remembers where this page is, if a session has it.
export function keep() {
  if (!place) return;
  try {
    localStorage.setItem(name, here);
  } catch {
    // no store: other tabs sign in by themselves
  }
}

// enter goes on to the page that was asked for if the session that was kept is still there.
export async function enter() {
  let kept;
  try {
    kept = localStorage.getItem(name);
  } catch {
    return;
  }
  if (!kept || kept === here || !kept.startsWith(root) || !/^ui\/~[\w-]+\/$/.test(kept.slice(root.length))) return;
  const asked = location.pathname.slice(here.length);
  const response = await fetch(`${kept}ui/session`, { cache: 'no-store' });
  if (response.ok) location.replace(kept + (asked === 'ui/login' ? '' : asked) + location.search);
  else if (response.status === 401) localStorage.removeItem(name);
}
