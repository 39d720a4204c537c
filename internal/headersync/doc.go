// Package headersync judges chains of headers before anything of them is kept.
//
// A peer's chain is worth memory only when it has enough work, which shows after
// all its headers were seen. [State] therefore reads a long chain twice, as
// Bitcoin Core 30.2 does (src/headerssync.h). The first time it keeps a bit for
// some of the headers. When the work is known to be enough, it asks for them again
// and lets through the headers that agree with the bits. A chain made to fool it
// costs its maker the work of a real one.
package headersync
