package main

import (
	"cmp"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
)

// defaultMaxPeers is how many connections to peers there are where nobody chooses.
func defaultMaxPeers(o *options.Settings) int64 {
	if laterCore(o) {
		return 200
	}
	return 125
}

// peerConfig reads the options that concern peers, of which there may be as many.
func peerConfig(s *session, peers int) (*trawl.PeerConfig, error) {
	o, dir := s.settings, s.netDir
	port, err := portOf(o, "port")
	if err != nil {
		return nil, err
	}
	connect := o.Strings("connect")
	if len(connect) == 1 && connect[0] == "0" {
		connect = nil
	}
	if o.Int("peertimeout", 60) <= 0 {
		return nil, refuse("peertimeout must be a positive integer.")
	}
	bind, whitebind := o.Strings("bind"), o.Strings("whitebind")
	bound := len(bind)+len(whitebind) > 0
	soft := interactions(o)
	listen := soft.Bool("listen", true)
	if only := o.Strings("onlynet"); o.Bool("dnsseed", false) && len(only) > 0 && !reachesClearnet(only) {
		return nil, refuse("Incompatible options: -dnsseed=1 was explicitly specified, but -onlynet forbids " +
			"connections to IPv4/IPv6")
	}
	if o.Bool("forcednsseed", false) && o.IsSet("dnsseed") && !o.Bool("dnsseed", true) {
		return nil, refuse("Cannot set -forcednsseed to true when setting -dnsseed to false.")
	}
	asmap, err := asmapFile(o, dir)
	if err != nil {
		return nil, err
	}
	uploads, ok := options.ParseBytes(o.String("maxuploadtarget", "0"), 'M')
	if !ok {
		return nil, refuse("Unable to parse -maxuploadtarget: '%s'", o.String("maxuploadtarget", ""))
	}
	if !listen && bound {
		return nil, refuse("Cannot set -bind or -whitebind together with -listen=0")
	}
	if err := checkHostPorts(o); err != nil {
		return nil, err
	}
	control, err := torControl(o, soft, listen)
	if err != nil {
		return nil, err
	}
	relaying, err := relayingPeers(o, incoming(peers))
	if err != nil {
		return nil, err
	}
	return &trawl.PeerConfig{
		Automatic: !isChosen(o), DNSSeeds: soft.Bool("dnsseed", true),
		ForceDNSSeeds: o.Bool("forcednsseed", false), NoFixedSeeds: !o.Bool("fixedseeds", true),
		Seeds: signetSeeds(o), SeedNodes: o.Strings("seednode"), Proxy: o.Strings("proxy"), Onion: onion(o),
		TorControl: control, TorPassword: o.String("torpassword", ""),
		I2P: o.String("i2psam", ""), I2PIncoming: soft.Bool("i2pacceptincoming", true),
		ASMap: asmap, Capture: o.Bool("capturemessages", false),
		NoOnion: o.IsNegated("onion") || o.String("onion", "") == "0",
		CJDNS:   o.Bool("cjdnsreachable", false), ProxyRandomize: o.Bool("proxyrandomize", true),
		OnlyNet: o.Strings("onlynet"), ExternalIP: o.Strings("externalip"),
		Discover:  soft.Bool("discover", true),
		Whitebind: whitebind, Whitelist: o.Strings("whitelist"),
		WhitelistRelay: soft.Bool("whitelistrelay", true), WhitelistForceRelay: o.Bool("whitelistforcerelay", false),
		BanTime: time.Duration(min(o.Int("bantime", 86400), longestTimeout)) * time.Second,
		Filters: o.Bool("peerblockfilters", false), BloomFilters: o.Bool("peerbloomfilters", false),
		Listen: listen, Bind: bind, Port: port, Connect: connect, AddNodes: o.Strings("addnode"),
		Archives: o.Strings("connectarchive"),
		MaxPeers: peers, MaxIncoming: incoming(peers), MaxRelaying: relaying, SendRate: sendRate(o),
		Lookup: o.Bool("dns", true), Inactive: !o.Bool("networkactive", true),
		V2: o.Bool("v2transport", true), Reconcile: o.Bool("txreconciliation", false),
		Comments: o.Strings("uacomment"), LogIPs: o.Bool("logips", false),
		Timeout:     time.Duration(o.Int("timeout", defaultConnectTimeout)) * time.Millisecond,
		PeerTimeout: time.Duration(min(o.Int("peertimeout", 60), longestTimeout)) * time.Second,
		SendBuffer:  1000 * int(o.Int("maxsendbuffer", 1000)), RecvBuffer: 1000 * int(o.Int("maxreceivebuffer", 5000)),
		UploadLimit: uploads, PrivateBroadcast: o.Bool("privatebroadcast", false), Warn: s.warn,
	}, nil
}

// incoming returns how many of all connections others may make, -1 for none: Core keeps 11 for its own also where it
// connects to none by itself.
func incoming(peers int) int { return cmp.Or(max(peers-reservedPeers, 0), -1) }

// relayingPeers returns how many of the connections that others make may be of peers that take part in the relay of
// transactions, -1 for none.
func relayingPeers(o *options.Settings, incoming int) (int, error) {
	percent := int64(100)
	if laterCore(o) {
		percent = 50
	}
	percent = o.Int("inboundrelaypercent", percent)
	if percent < 0 || percent > 100 {
		return 0, refuse("-inboundrelaypercent must be between 0 and 100")
	}
	return cmp.Or(int(int64(max(incoming, 0))*percent/100), -1), nil
}

// sendRate reads -txsendrate, within Core's bounds.
func sendRate(o *options.Settings) int { return int(min(max(o.Int("txsendrate", 14), 1), 1000)) }

const (
	// reservedPeers are Core's MAX_OUTBOUND_FULL_RELAY_CONNECTIONS, MAX_BLOCK_RELAY_ONLY_CONNECTIONS and
	// MAX_FEELER_CONNECTIONS together.
	reservedPeers = 8 + 2 + 1

	// defaultConnectTimeout is Core's DEFAULT_CONNECT_TIMEOUT, in milliseconds.
	defaultConnectTimeout = 5000

	// longestTimeout is what a time.Duration can hold, in seconds.
	longestTimeout = int64(1<<63-1) / int64(time.Second)
)

// asmapFile reads -asmap, empty where no file is to be used.
func asmapFile(o *options.Settings, dir string) (string, error) {
	if !o.IsSet("asmap") || o.IsNegated("asmap") {
		return "", nil
	}
	if core, err := reference(o); err != nil {
		return "", err
	} else if dialect.HasNoDefaultMap(core) && o.Bool("asmap", false) {
		return "", refuse("Embedded asmap data not available")
	}
	const byDefault = "ip_asn.map"
	path := o.Path("asmap", byDefault)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, cmp.Or(path, byDefault))
	}
	return path, nil
}

// torControl reads where Tor is to make an onion service, empty for none.
func torControl(o *options.Settings, soft *softly, listen bool) (string, error) {
	switch on := soft.Bool("listenonion", true); {
	case on && !listen:
		return "", refuse("Cannot set -listen=0 together with -listenonion=1")
	case !on:
		return "", nil
	default:
		return o.String("torcontrol", "127.0.0.1:9051"), nil
	}
}

// checkHostPorts refuses ports that are none.
func checkHostPorts(o *options.Settings) error {
	for _, option := range []struct {
		name         string
		unix, suffix bool
	}{
		{"i2psam", false, false},
		{"onion", true, false},
		{"proxy", true, true},
		{"bind", false, true},
		{"torcontrol", false, false},
		{"whitebind", false, false},
	} {
		for _, value := range o.Strings(option.name) {
			at := value
			if i := strings.LastIndexByte(value, '='); option.suffix && i >= 0 {
				at = value[:i]
			}
			_, _, ok := options.SplitHostPort(at)
			if !ok && (!option.unix || !strings.HasPrefix(value, "unix:")) {
				return refuse("Invalid port specified in -%s: '%s'", option.name, value)
			}
		}
	}
	return nil
}

func onion(o *options.Settings) string {
	if text := o.String("onion", ""); text != "0" {
		return text
	}
	return ""
}

// portOf reads an option that is a port, 0 where it is not given.
func portOf(o *options.Settings, option string) (uint16, error) {
	if !o.IsSet(option) {
		return 0, nil
	}
	text := o.String(option, "")
	if o.IsNegated(option) {
		text = "0"
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, refuse("Invalid port specified in -%s: '%s'", option, text)
	}
	return uint16(port), nil
}

// assumedValid reads -assumevalid, empty where it is not set.
func assumedValid(o *options.Settings) (string, error) {
	text := o.String("assumevalid", "")
	digits := strings.TrimPrefix(text, "0x")
	if !o.IsSet("assumevalid") {
		return "", nil
	}
	if _, err := chainhash.NewHashFromStr(digits); err != nil {
		return "", refuse(
			"Invalid assumevalid block hash specified (%s), must be up to 64 hex digits (or 0 to disable)", text,
		)
	}
	return cmp.Or(digits, "0"), nil
}

// minimumWork reads -minimumchainwork, empty where it is not set.
func minimumWork(o *options.Settings) (string, error) {
	text := o.String("minimumchainwork", "")
	digits := strings.TrimPrefix(text, "0x")
	if text == "" {
		return "", nil
	}
	if _, ok := new(big.Int).SetString(digits, 16); !ok || len(digits) > 64 || strings.ContainsAny(digits, "+-_") {
		return "", refuse("Invalid minimum work specified (%s), must be up to 64 hex digits", text)
	}
	return digits, nil
}

// signetSeeds are the DNS names that have nodes of a signet, nil for those of the public one.
func signetSeeds(o *options.Settings) []string {
	if o.Chain() != options.Signet {
		return nil
	}
	return o.Strings("signetseednode")
}
