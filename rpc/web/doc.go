// Package web is what a node shows in browsers: the login, sessions, and the pages behind them. It
// answers GET / of the RPC server where a client takes HTML, and all that lies below /ui/; it knows
// methods by their names alone.
//
// # Paths
//
//	GET  /                        the first page; with 401 the form for logging in
//	GET  /ui/assets/…             the files of the folder assets, without a login
//	POST /ui/login                the form with the fields user and password: 303 to /, or 401 with the form
//	POST /ui/logout               ends the session: 303 to /. The token may be the form's field "token"
//	GET  /ui/session              JSON {user, token, methods, starting}, as an asker has them
//	POST /ui/call                 JSON-RPC, as POST / of the server
//	POST /ui/call/wallet/WALLET   the same, as POST /wallet/WALLET
//	GET  /ui/events?QUERY         server-sent events, as GET /events?QUERY of the server; POST does the same
//	POST /ui/upload?name=WALLET   a backup, the body, of at most 256 MiB: the reply to previewrestore of it, and
//	                              where it can be loaded its id in the header X-Trawl-Upload
//	POST /ui/upload/restore       form with upload=ID, the wallet's name, and load=true or false: the reply to
//	                              restorewallet of that upload, 404 where it is there no more
//	POST /ui/upload/drop          form with upload=ID: removes it
//	     /ui/…                    all else is the view's: its method serve gets an asker, whose Call makes calls
//
// Everything works behind a path prefix, since pages name all else relative to themselves: Base of
// an asker leads to /, as in {{.Base}}ui/assets/style.css.
//
// # Who may
//
// Who sends Basic by itself is served like anywhere else. Browsers log in with the form, and have a
// session then: a cookie that no script sees. With a session, all needs a Host that is an address, localhost
// or one of -rpcallowhost, and all but GET and HEAD an Origin that is the Host, and the page's token
// in the header X-Trawl-Token. So do events, but for the Origin, which browsers do not send with
// GET: there "Sec-Fetch-Site: same-origin" does; and the token may be the query's "token", since
// an EventSource sends no headers of a page. Without a login the answer is 401, without what else is
// needed 403. What is answered to GET and HEAD must change nothing.
//
// A session ends after an hour without a request of it, with the node, when its login is taken out, by
// a logout, and when the same login has begun 32 others. Requests with the header X-Trawl-Idle, which
// pages make by themselves while nobody uses them, do not count. Its streams of events end with it. A
// session has the rights of its login (-rpcwhitelist).
//
// A login may have one upload at a time, mode 0600 below the network's directory. It needs the rights of
// previewrestore and restorewallet, and is gone when it turned out to be no wallet, when its restore is answered,
// when it is dropped or replaced, with its session, after an hour, and at a start. Refusals: 409 while
// one comes in or is restored, 413 for one that is too large, 507 where the disk is full.
//
// Scripts and styles are files of assets, and nothing is inline: the Content-Security-Policy of every
// answer says so.
package web
