// Package web is what a node shows in browsers: the login, sessions, and the pages behind them. It
// answers GET / of the RPC server where a client takes HTML, and all that lies below /ui/. It knows
// methods by their names alone.
//
// # Paths
//
//	GET  /                        the first page; with 401 the form for logging in.
//	GET  /ui/assets/…             the files of the folder assets, without a login.
//	POST /ui/login                the form with the fields user and password: 303 to /, or 401 with the form.
//	GET  /ui/enter/SECRET         the page of an invitation, with a button that POST /ui/enter answers as a login.
//	POST /ui/look                 the form that chooses unit and colours: a cookie, and 303 to its page.
//	POST /ui/find                 the form of the box, with the field q: 303 to the page of what was meant, or a
//	                              page with all that it may be.
//	POST /ui/logout               ends the session: 303 to /. The token may be the form's field "token".
//	GET  /ui/session              JSON {user, token, methods, starting}, as an asker has them.
//	POST /ui/call                 JSON-RPC, as POST / of the server.
//	POST /ui/call/wallet/WALLET   the same, as POST /wallet/WALLET.
//	GET  /ui/events?QUERY         server-sent events, as GET /events?QUERY of the server. POST does the same.
//	POST /ui/upload?name=WALLET   a backup, the body, of at most 256 MiB. The reply is previewrestore's, and has
//	                              the upload's id in the header X-Trawl-Upload if the backup can be loaded.
//	POST /ui/upload/restore       form with upload=ID, the wallet's name, and load=true or false. The reply is
//	                              restorewallet's for that upload, or 404 if the upload is gone.
//	POST /ui/upload/drop          form with upload=ID: removes the upload.
//	     /ui/…                    all else is the view's: its method serve gets an asker, whose Call makes calls.
//
// Base of an asker leads to /, as in {{.Base}}ui/assets/style.css. Everything works behind a path prefix,
// since pages name all else relative to themselves.
//
// # Rights
//
// A client that sends Basic by itself is served as everywhere else. Browsers log in with the form, and then
// have a session: a cookie that no script sees. With a session every request needs a Host that is an address,
// localhost or an -rpcallowhost. All but GET and HEAD also need an Origin that is the Host, and the page's
// token in the header X-Trawl-Token. Events need both too, with two exceptions. Browsers do not send the Origin
// with GET: "Sec-Fetch-Site: same-origin" does instead. An EventSource sends no headers of a page: the token may
// be the query's "token". Without a login the answer is 401; if one of the other conditions fails it is 403.
// Requests with GET and HEAD must change nothing.
//
// A session ends after an hour without a request, with the node, when its login is taken out, by a logout, and
// when the same login has begun 32 others. Requests with the header X-Trawl-Idle, which pages make by
// themselves while nobody uses them, do not count. The session's streams of events end too. A session has the
// rights of its login (-rpcwhitelist).
//
// A login may have one upload at a time, mode 0600 below the network's directory. It needs the rights of
// previewrestore and restorewallet. The upload is removed if it turns out to be no wallet, or once its restore is
// answered, or it is dropped or replaced. It ends too with its session, after an hour, and at a start. Refusals:
// 409 while an upload comes in or is restored, 413 for an upload that is too large, 507 where the disk is full.
//
// Scripts and styles are files of assets, and nothing is inline, as the Content-Security-Policy of every
// answer demands.
package web
