package trawl

// SearchesConfig bounds the searches that are kept. A number of 0 is its default.
type SearchesConfig struct {
	Searches int   // default 1,000
	Scripts  int   // of all of them; default 10 million
	Entries  int64 // of all of them; default 100 million
	Quota    int   // searches of one login; default: no limit

	// LeastRoom is with how many bytes free on the disk all pause. Default: the larger of
	// 2 GiB and 5 % of the disk.
	LeastRoom int64
}
