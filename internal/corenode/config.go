package corenode

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/options"
)

// configName is the name of Core's configuration file in its data directory.
const configName = "bitcoin.conf"

// maxConfig bounds the bytes of a configuration file.
const maxConfig = 1 << 20

// table has those options of Core's that this package reads. All values are treated as
// secrets.
var table = []options.Option{
	{Name: "conf"},
	{Name: "includeconf"},
	{Name: "datadir"},
	{Name: "blocksdir"},
	{Name: "chain"},
	{Name: "regtest"},
	{Name: "signet"},
	{Name: "testnet"},
	{Name: "testnet4"},
	{Name: "rpcport", Flags: options.NetworkOnly},
	{Name: "rpcbind", Flags: options.NetworkOnly},
	{Name: "rpcallowip"},
	{Name: "rpcmaxconnections"},
	{Name: "rpccookiefile"},
	{Name: "rpcuser", Flags: options.Sensitive},
	{Name: "rpcpassword", Flags: options.Sensitive},
	{Name: "rpcauth", Flags: options.Sensitive},
	{Name: "rpcwhitelist"},
	{Name: "rpcwhitelistdefault"},
	{Name: "rest"},
	{Name: "blockfilterindex"},
	{Name: "prune"},
	{Name: "server"},
	{Name: "disablewallet"},
}

// Configured is what Core's configuration file says. It does not know options from the
// command line of a running Core.
type Configured struct {
	File        string // absolute path; empty: there is none
	DataDir     string // absolute path
	NetDir      string // folder of the chain below it
	BlocksDir   string // with blk and rev files
	Chain       string // as -chain has it
	Address     Address
	Cookie      string // path of the cookie file; empty: Core makes none
	CookieBelow string // directory that no link to the cookie may leave; empty: it lies elsewhere
	User        string // instead of the cookie, with Password
	Password    string
	Credentials []rpcauth.Credential // of rpcauth, rpcuser and rpcpassword; the cookie is not among them
	Whitelists  rpcauth.Whitelists
	REST        bool // -rest
	FilterIndex bool // -blockfilterindex
	Prune       int64
	NoServer    bool // -server=0: there is no RPC
	MaxConns    int  // -rpcmaxconnections; 0: it is not set
}

// ErrConfig reports a data directory whose configuration cannot be read. Its text holds
// nothing of the file.
var ErrConfig = errors.New("the configuration of Bitcoin Core cannot be read")

// ReadConfig reads bitcoin.conf in a data directory of Core, for a chain as -chain has
// it, or for that of the file where chain is empty. Without a file all is as Core has
// it by default. Nothing is read that a link leads out of the directory to.
func ReadConfig(dir, chain string) (Configured, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Configured{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Configured{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	defer root.Close()
	s := options.New(table, dir)
	files := configFiles{dir: dir, root: root}
	if err := readSettings(s, files, chain); err != nil {
		return Configured{}, fmt.Errorf("%w: %s: %w", ErrConfig, filepath.Join(dir, configName), err)
	}
	c, err := configured(s)
	if err != nil {
		return Configured{}, fmt.Errorf("%w: %s: %w", ErrConfig, filepath.Join(dir, configName), err)
	}
	return c, nil
}

func readSettings(s *options.Settings, files configFiles, chain string) error {
	switch _, err := files.root.Lstat(configName); {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.ParseArgs([]string{"-noconf"}); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if _, err := files.ReadFile(filepath.Join(files.dir, configName)); err != nil {
			return err
		}
		if err := s.ParseArgs([]string{"-conf=" + configName}); err != nil {
			return err
		}
	}
	if chain != "" {
		s.Force("chain", chain)
		for _, flag := range []string{"regtest", "signet", "testnet", "testnet4"} {
			s.Force(flag, "0")
		}
	}
	if err := s.ReadConfig(files); err != nil {
		return withoutText(err)
	}
	if _, err := s.SelectChain(); err != nil {
		return withoutText(err)
	}
	return nil
}

var lineNumber = regexp.MustCompile(`on line \d+`)

// withoutText returns an error that says where a file is wrong and repeats nothing of it:
// a line that cannot be read may be a password.
func withoutText(err error) error {
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "Invalid combination"):
		return errors.New("it selects more than one chain")
	case strings.HasPrefix(text, "Unknown chain"):
		return errors.New("it selects a chain that is not known")
	case strings.HasPrefix(text, "specified data directory"):
		return errors.New("the directory of datadir= does not exist")
	}
	if at := lineNumber.FindString(text); at != "" {
		return errors.New("there is a mistake " + at)
	}
	return errors.New("there is a mistake, or an included file cannot be read")
}

func configured(s *options.Settings) (Configured, error) {
	c := Configured{
		DataDir: s.DataDir(), NetDir: s.NetDir(), Chain: string(s.Chain()),
		REST: s.Bool("rest", false), Prune: s.Int("prune", 0), NoServer: !s.Bool("server", true),
		MaxConns: int(min(max(s.Int("rpcmaxconnections", 0), 0), math.MaxInt32)),
	}
	if !s.IsNegated("conf") {
		c.File = s.ConfigPath()
	}
	blocks := s.DataDir()
	if given := s.Path("blocksdir", ""); given != "" {
		if !filepath.IsAbs(given) {
			return Configured{}, errors.New("blocksdir= is not absolute, and Core's working folder is not known")
		}
		blocks = given
	}
	c.BlocksDir = filepath.Join(blocks, s.Chain().Dir(), "blocks")
	if index := s.String("blockfilterindex", "0"); index != "0" {
		c.FilterIndex = true
	}
	var err error
	if c.Address, err = rpcAddress(s); err != nil {
		return Configured{}, err
	}
	if password := s.String("rpcpassword", ""); password != "" {
		c.User, c.Password = s.String("rpcuser", ""), password
		c.Credentials = append(c.Credentials, rpcauth.New(c.User, password))
	} else {
		c.Cookie = s.CookieFile()
		if name, err := filepath.Rel(c.DataDir, c.Cookie); err == nil && filepath.IsLocal(name) {
			c.CookieBelow = c.DataDir
		}
	}
	for _, entry := range s.Strings("rpcauth") {
		if login, ok := rpcauth.Parse(entry); ok {
			c.Credentials = append(c.Credentials, login)
		}
	}
	var limited *bool
	if s.IsSet("rpcwhitelistdefault") {
		limited = new(s.Bool("rpcwhitelistdefault", false))
	}
	c.Whitelists = rpcauth.ParseWhitelists(s.Strings("rpcwhitelist"), limited)
	return c, nil
}

// rpcAddress returns where a Core with such settings can be reached on this machine.
func rpcAddress(s *options.Settings) (Address, error) {
	a := Address{Host: "127.0.0.1", Port: s.RPCPort()}
	if text := s.String("rpcport", ""); text != "" {
		port, ok := options.ParsePort(text)
		if !ok {
			return Address{}, errors.New("rpcport= is no port")
		}
		a.Port = port
	}
	binds := s.Strings("rpcbind")
	if len(binds) == 0 || len(s.Strings("rpcallowip")) == 0 { // Core ignores the one without the other
		return a, nil
	}
	for i, bind := range binds {
		host, port, ok := options.SplitHostPort(bind)
		if !ok {
			return Address{}, errors.New("rpcbind= is no address")
		}
		if port == 0 {
			port = a.Port
		}
		at := Address{Host: reachable(host), Port: port}
		if at.Local() {
			return at, nil
		}
		if i == len(binds)-1 {
			a = at
		}
	}
	return a, nil
}

// reachable returns the loopback address if host stands for all addresses, and host
// otherwise.
func reachable(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if ip.To4() == nil {
			return "::1"
		}
		return "127.0.0.1"
	}
	return host
}

// configFiles reads the files of a data directory, and those elsewhere that its
// configuration names.
type configFiles struct {
	dir  string
	root *os.Root
}

// ReadFile implements options.Files.
func (c configFiles) ReadFile(path string) ([]byte, error) {
	open, stat := c.root.Open, c.root.Stat
	name, err := filepath.Rel(c.dir, path)
	if err != nil || !filepath.IsLocal(name) {
		open, stat, name = os.Open, os.Stat, path
	}
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", maxConfig)}
	}
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if strings.HasPrefix(string(text[:min(len(text), 3)]), mark) {
			return append([]byte("\xef\xbb\xbf"), text...), err // Core takes the mark for a part of the first name
		}
	}
	return text, err
}

// IsDir implements options.Files.
func (configFiles) IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
