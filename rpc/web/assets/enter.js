// The form for signing in leads on by itself where the browser is signed in already.

import { enter } from './place.js';

enter().catch(() => {}); // the node is away
