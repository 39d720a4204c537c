package dialect

// HTTP says how requests over HTTP are judged, where versions of Bitcoin Core differ.
type HTTP struct {
	// OtherVerbs is the status that answers verbs other than GET, HEAD, POST, PUT and DELETE.
	OtherVerbs int

	// ChunkExtensions has extensions of chunks passed over; else such a body is refused.
	ChunkExtensions bool

	// ChunksFirst has a body in chunks taken that tells its length too, which does not count. Else it is refused.
	ChunksFirst bool

	// AnyTarget has public requests taken whose target has characters that may not stand there.
	AnyTarget bool

	// ReadFailures has public requests told that a block could not be read; else there seems to be none.
	ReadFailures bool

	// HangsUp has connections from where nobody may call ended without an answer; else their requests are refused.
	HangsUp bool

	// NamesCalls has lines of the log about calls tell their ids.
	NamesCalls bool
}

// HTTPOf returns what a version of Bitcoin Core does; 0 is the default.
func HTTPOf(reference int) HTTP {
	if reference == 0 {
		reference = DefaultReference
	}
	if reference < Core32 {
		return HTTP{OtherVerbs: 501} // the status that Core 30 answers
	}
	return HTTP{ // a method that is not allowed
		OtherVerbs: 405, ChunkExtensions: true, ChunksFirst: true, AnyTarget: true,
		ReadFailures: true, HangsUp: true, NamesCalls: true,
	}
}
