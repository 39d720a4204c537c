package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/load"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/version"
)

const (
	defaultCallers  = 1000
	defaultDuration = 30 * time.Second
	defaultMix      = "start:1,status:8,abort:1"
	defaultKeys     = 1000
	defaultTimeout  = 900           // seconds
	maxTimeout      = 7 * 24 * 3600 // seconds

	// maxCallers is what one address has ports for.
	maxCallers = 60_000

	// maxDuration and maxCount bound the replies that are remembered.
	maxDuration = 24 * time.Hour
	maxCount    = 1_000_000_000
)

// plan is what the command line asks for.
type plan struct {
	load               load.Config
	jsonFile, htmlFile string
}

// errAnswered reports that the user asked for help or the version and got it.
var errAnswered = errors.New("help was asked for")

// parse reads the command line and the configuration files.
func parse(args []string, std streams) (*plan, error) {
	s := options.New(table.Load(), options.DefaultDataDir(std.home))
	if err := s.ParseArgs(args); err != nil {
		return nil, err
	}
	if s.HelpAsked() || s.Bool("version", false) {
		fmt.Fprint(std.stdout, introduction(s))
		return nil, errAnswered
	}
	if words := s.Words(); len(words) > 0 {
		return nil, fmt.Errorf("what is %q? There are only options", words[0])
	}
	if err := readSettings(s); err != nil {
		return nil, err
	}
	p := &plan{jsonFile: s.String("json", ""), htmlFile: s.String("html", "")}
	return p, errors.Join(p.setNode(s), p.setLoad(s), p.setObjects(s))
}

func readSettings(s *options.Settings) error {
	files := options.OS{}
	if err := s.CheckDataDir(files); err != nil {
		return err
	}
	if err := s.ReadConfig(files); err != nil {
		return err
	}
	_, err := s.SelectChain()
	return err
}

func introduction(s *options.Settings) string {
	return options.Introduction(s, &program, version.String(), "Distributed under the ISC licence.\n")
}

var program = options.Program{
	Name: "trawl-load", Title: "Trawl load generator",
	Purpose: "loads a node with concurrent scans and checks its answers",
	About: `trawl-load lets many callers start, poll and abort scans on a node, make
searches, or call anything else, shows how long the node takes to answer, and checks that its
answers can be true. Nobody else may scan on the node meanwhile.
`,
	Usage: []string{"[options]"},
}

// setNode finds the node and the credentials, as trawl-cli does.
func (p *plan) setNode(s *options.Settings) error {
	connect := s.String("rpcconnect", "127.0.0.1")
	host, port, ok := options.SplitHostPort(connect)
	if !ok {
		return fmt.Errorf("no such port in -rpcconnect: %s", connect)
	}
	if text := s.String("rpcport", ""); text != "" {
		if port, ok = options.ParsePort(text); !ok {
			return fmt.Errorf("no such port in -rpcport: %s", text)
		}
	}
	if port == 0 {
		port = s.RPCPort()
	}
	if !isLoopback(host) && !s.Bool("allowremote", false) {
		return fmt.Errorf("%s is not this machine: -allowremote is needed to put load on another", host)
	}
	p.load.Addr = net.JoinHostPort(host, strconv.Itoa(int(port)))
	if password := s.String("rpcpassword", ""); password != "" {
		p.load.Login = s.String("rpcuser", "") + ":" + password
		return nil
	}
	cookie, err := (options.OS{}).ReadFile(s.CookieFile())
	if err != nil {
		return fmt.Errorf("no -rpcpassword and no cookie: %w", err)
	}
	p.load.Login, _, _ = strings.Cut(string(cookie), "\n")
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

func (p *plan) setLoad(s *options.Settings) error {
	var err error
	number := func(name string, def, least, most int64) int64 {
		n, wrong := strconv.ParseInt(s.String(name, strconv.FormatInt(def, 10)), 10, 64)
		if wrong != nil || n < least || n > most {
			err = errors.Join(err, fmt.Errorf("-%s must be a number from %d to %d", name, least, most))
		}
		return n
	}
	c := &p.load
	c.Callers = int(number("callers", defaultCallers, 1, maxCallers))
	c.Count = number("count", 0, 0, maxCount)
	c.Keys = int(number("keys", defaultKeys, 1, 1_000_000))
	c.Seed = uint64(number("seed", 1, 0, 1<<63-1))
	c.Timeout = time.Duration(number("rpcclienttimeout", defaultTimeout, 0, maxTimeout)) * time.Second
	if c.Timeout == 0 {
		c.Timeout = maxTimeout * time.Second
	}
	c.Duration = defaultDuration
	if c.Count > 0 {
		c.Duration = 0
	}
	var wrong error
	if text := s.String("duration", ""); text != "" {
		if c.Duration, wrong = time.ParseDuration(text); wrong != nil || c.Duration < 0 || c.Duration > maxDuration {
			err = errors.Join(err, fmt.Errorf("-duration must be a time up to %v, such as 90s", maxDuration))
		}
	}
	if c.Duration == 0 && c.Count == 0 {
		err = errors.Join(err, errors.New("one of -duration and -count must limit the run"))
	}
	if c.Rate, wrong = strconv.ParseFloat(s.String("rate", "0"), 64); wrong != nil || !(c.Rate >= 0 && c.Rate <= 1e9) {
		err = errors.Join(err, errors.New("-rate must be a number from 0 to 1000000000"))
	}
	c.Mix, wrong = load.ParseMix(s.String("mix", defaultMix))
	return errors.Join(err, wrong)
}

// setObjects reads the file of -descriptors.
func (p *plan) setObjects(s *options.Settings) error {
	path := s.String("descriptors", "")
	if path == "" {
		return nil
	}
	text, err := (options.OS{}).ReadFile(path)
	if err != nil {
		return err
	}
	if p.load.Objects, err = scanObjects(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// scanObjects makes a JSON array of a text that is such an array, or has a
// descriptor on each line. Empty lines are passed over.
func scanObjects(text []byte) (json.RawMessage, error) {
	var list []json.RawMessage
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	} else {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				quoted, err := json.Marshal(line)
				if err != nil {
					return nil, err
				}
				list = append(list, quoted)
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no descriptors")
	}
	return json.Marshal(list)
}
