package options

import (
	"path/filepath"
	"strings"
)

// DefaultDataDir returns the data directory below a user's home directory. It
// is not Bitcoin Core's, so that neither program opens the other's files by
// accident.
func DefaultDataDir(home string) string {
	if home == "" {
		home = "/"
	}
	return filepath.Join(home, ".trawl")
}

// Path returns the cleaned path in an option, def where it is not set or has no
// value. It is empty where the option is negated.
func (s *Settings) Path(name, def string) string {
	if s.IsNegated(name) {
		return ""
	}
	if path := s.String(name, ""); path != "" {
		return filepath.Clean(path)
	}
	return def
}

// CheckDataDir reports an error, of type [*Error], when -datadir names something
// that is not a directory.
func (s *Settings) CheckDataDir(files Files) error {
	if !s.dataDirExists(files) {
		return errorf("Specified data directory \"%s\" does not exist.", s.String("datadir", ""))
	}
	return nil
}

func (s *Settings) dataDirExists(files Files) bool {
	return s.Path("datadir", "") == "" || files.IsDir(s.DataDir())
}

// DataDir returns the absolute path of the data directory. Each dialect has a
// default of its own.
func (s *Settings) DataDir() string {
	return absolute(s.Path("datadir", s.defaultDir+s.dialect().dir))
}

// NetDir returns the absolute path of the folder of the selected network below
// the data directory.
func (s *Settings) NetDir() string { return filepath.Join(s.DataDir(), s.chain.Dir()) }

// BelowNetDir makes a path from an option absolute: relative ones lie below the
// folder of the network.
func (s *Settings) BelowNetDir(path string) string { return below(s.NetDir(), path) }

// CookieFile returns the absolute path of the file with the RPC credentials;
// it is empty with -norpccookiefile.
func (s *Settings) CookieFile() string {
	if s.IsNegated("rpccookiefile") {
		return ""
	}
	return s.BelowNetDir(s.Path("rpccookiefile", ".cookie"))
}

// AddressFile is the name of the file, in the folder of a network, in which a daemon says
// where its RPC server listens, if not where those of its network do. Where no option names
// the network there is one in the data directory itself, too, in which that follows the
// address after a space.
const AddressFile = ".rpcaddress"

// TellsChain reports which network the text of an address file names, if any.
func TellsChain(text string) (chain Chain, ok bool) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return "", false
	}
	_, known := dirs[Chain(words[1])]
	return Chain(words[1]), known
}

func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// absolute is filepath.Abs, which fails only when the working directory is gone;
// then the path stays as it is.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
