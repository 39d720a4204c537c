package forward

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

// allow is what happens to a call.
type allow int

const (
	no     allow = iota // HTTP status 403
	refuse              // an error that says why
	absent              // no such method
	here
	core
)

func (a allow) String() string { return [...]string{"403", "refused", "absent", "here", "core"}[a] }

func decide(f *Forwarder, caller command.Caller, method string) allow {
	if caller.Login != nil && (!caller.Login.Any() || !caller.Login.Allows(method)) {
		return no
	}
	known := f.factsOf(method) != unknown
	forwards, err := f.Forwards(caller, method, known)
	switch {
	case errors.Is(err, command.Refused(403)):
		return no
	case errors.Is(err, command.ErrMethodNotFound):
		return absent
	case err != nil:
		return refuse
	case forwards:
		return core
	case !known:
		return absent
	}
	return here
}

// Each rule about the calls that a caller may make.
func TestRights(t *testing.T) {
	mine, theirs := "mine", "theirs"
	listed := rpcauth.ParseWhitelists([]string{
		"u:getblock,getbalance,sendrawtransaction,createwallet,stop", "s:scanblocks",
	}, nil)
	type caller struct {
		name  string
		login func(f *Forwarder) command.Login
	}
	own := caller{"own", func(*Forwarder) command.Login { return nil }}
	of := func(name string, l list) caller {
		return caller{name, func(f *Forwarder) command.Login {
			return coreLogin{"Basic x", func() rights { return rights{l, f.factsOf, f.mayPass} }}
		}}
	}
	free := of("Core's, free", rpcauth.ParseWhitelists(nil, nil).Of("u"))
	limited, scans := of("Core's, listed", listed.Of("u")), of("may scan", listed.Of("s"))
	nobody, remote := of("not listed", listed.Of("n")), of("remote", nil)
	for _, test := range []struct {
		what     string
		mode     Mode
		caller   caller
		wallet   *string
		method   string
		few      bool
		nowallet bool
		want     allow
	}{
		{what: "own logins forward reading methods", caller: own, method: "getmempoolinfo", want: core},
		{what: "and sendrawtransaction", caller: own, method: "sendrawtransaction", want: core},
		{what: "nothing else", caller: own, method: "generatetoaddress", want: refuse},
		{what: "not by other names", caller: own, method: "sendmany", want: absent},
		{what: "no wallets of Core's", caller: own, wallet: &theirs, method: "getbalance", want: refuse},
		{what: "own methods are theirs", caller: own, method: "scanblocks", want: here},
		{what: "own wallets too", caller: own, wallet: &mine, method: "getbalance", want: here},
		{what: "stop is our own", caller: own, method: "stop", want: here},

		{what: "all delegates everything", mode: All, caller: own, method: "generatetoaddress", want: core},
		{what: "other names too", mode: All, caller: own, method: "sendmany", want: core},
		{what: "wallets of Core's too", mode: All, caller: own, wallet: &theirs, method: "getbalance", want: core},
		{what: "but stop", mode: All, caller: own, method: "stop", want: here},
		{what: "but stop, for Core's", mode: All, caller: free, method: "stop", want: here},

		{what: "read binds own logins", mode: Read, caller: own, method: "sendrawtransaction", want: refuse},
		{what: "read binds Core's", mode: Read, caller: free, method: "sendrawtransaction", want: refuse},
		{what: "read lets read", mode: Read, caller: free, method: "getmempoolinfo", want: core},
		{what: "read binds remote ones", mode: Read, caller: remote, method: "sendmany", want: absent},
		{what: "none binds own logins", mode: None, caller: own, method: "getmempoolinfo", want: refuse},
		{what: "none binds Core's", mode: None, caller: free, method: "getmempoolinfo", want: refuse},
		{what: "none leaves our own", mode: None, caller: free, method: "scanblocks", want: here},

		{what: "without a list all is forwarded", caller: free, method: "generatetoaddress", want: core},
		{what: "other names too", caller: free, method: "sendmany", want: core},
		{what: "and our own called", caller: free, method: "scanblocks", want: here},
		{what: "what we alone have", caller: free, method: "getattachinfo", want: here},
		{what: "stop", caller: free, method: "stop", want: here},
		{what: "wallets", caller: free, wallet: &mine, method: "getbalance", want: here},
		{what: "making wallets", caller: free, method: "createwallet", want: here},
		{what: "Core's wallets", caller: free, wallet: &theirs, method: "getbalance", want: core},

		{what: "a list counts for our own methods", caller: limited, method: "getblock", want: here},
		{what: "what it lacks is refused", caller: limited, method: "getblockcount", want: no},
		{what: "a list counts for forwarded ones", caller: limited, method: "sendrawtransaction", want: core},
		{what: "what it lacks is not forwarded", caller: limited, method: "getmempoolinfo", want: no},
		{what: "ours alone go with scanblocks", caller: limited, method: "getattachinfo", want: no},
		{what: "ours alone go with scanblocks", caller: scans, method: "getattachinfo", want: here},
		{what: "scanblocks itself", caller: scans, method: "scanblocks", want: here},
		{what: "never stop, although listed", caller: limited, method: "stop", want: no},
		{what: "no wallets of ours, although listed", caller: limited, wallet: &mine, method: "getbalance", want: no},
		{what: "none made", caller: limited, method: "createwallet", want: no},
		{what: "Core's wallets, as listed", caller: limited, wallet: &theirs, method: "getbalance", want: core},
		{what: "nothing without a list where one is needed", caller: nobody, method: "getblock", want: no},

		{what: "unknown list: forwarded", caller: remote, method: "getmempoolinfo", want: core},
		{what: "unknown list: forwarded, whatever its name", caller: remote, method: "sendmany", want: core},
		{what: "unknown list: scanblocks", caller: remote, method: "scanblocks", want: here},
		{what: "unknown list: reading of blocks", caller: remote, method: "getblock", want: here},
		{what: "unknown list: and of filters", caller: remote, method: "getblockfilter", want: here},
		{what: "unknown list: nothing else", caller: remote, method: "decodescript", want: no},
		{what: "unknown list: not stop", caller: remote, method: "stop", want: no},
		{what: "unknown list: not what we alone have", caller: remote, method: "getattachinfo", want: no},
		{what: "unknown list: no wallets of ours", caller: remote, wallet: &mine, method: "getbalance", want: no},
		{what: "unknown list: none made", caller: remote, method: "createwallet", want: no},
		{what: "unknown list: Core's wallets", caller: remote, wallet: &theirs, method: "getbalance", want: core},

		{what: "no path, one of ours loaded", caller: free, method: "getbalance", want: here},
		{what: "no wallets here", caller: free, method: "getbalance", nowallet: true, want: core},
		{what: "no wallets here: made in Core", caller: free, method: "createwallet", nowallet: true, want: core},
		{what: "no wallets here: listed in Core", caller: remote, method: "listwallets", nowallet: true, want: core},
		{what: "our wallet, a method it has not", caller: free, wallet: &mine, method: "sendmany", want: absent},
		{what: "few: filters are ours", caller: free, method: "getblockfilter", few: true, want: here},
		{what: "few: blocks are Core's", caller: free, method: "getblock", few: true, want: core},
		{what: "few: stop is ours", caller: free, method: "stop", few: true, want: here},
		{what: "few: what we alone have is ours", caller: free, method: "createsearch", few: true, want: here},
		{what: "few: for own logins too", caller: own, method: "createsearch", few: true, want: here},
		{what: "few: and the program", caller: own, method: "getclusterinfo", few: true, want: here},
		{what: "few: with scanblocks", caller: scans, method: "createsearch", few: true, want: here},
		{what: "few: not without", caller: limited, method: "createsearch", few: true, want: no},
		{what: "few: wallets are ours", caller: free, wallet: &mine, method: "getbalance", few: true, want: here},
		{what: "few: and how they come", caller: free, method: "createwallet", few: true, want: here},
		{what: "few: descriptors too", caller: own, method: "deriveaddresses", few: true, want: core},
		{what: "few: no keys of others", caller: own, method: "signmessagewithprivkey", few: true, want: refuse},
		{what: "packages are not delegated", caller: own, method: "submitpackage", want: refuse},
		{what: "few: scripts are Core's", caller: own, method: "decodescript", few: true, want: core},

		{what: "searches go with scanblocks", caller: scans, method: "createsearch", want: here},
		{what: "not without", caller: limited, method: "createsearch", want: no},
		{what: "backups of our wallets do not", caller: scans, method: "previewrestore", want: no},
		{what: "unknown list: no searches", caller: remote, method: "createsearch", want: no},
	} {
		f := New(Config{Mode: test.mode, ServeFew: test.few})
		if !test.nowallet {
			f.OwnWallet = func(name *string) bool { return name == nil || *name == mine }
		}
		f.Serve(Table(t, func(c *command.Command) bool { return !test.nowallet || !c.OfWallet() }))
		got := decide(f, command.Caller{User: "u", WalletPath: test.wallet, Login: test.caller.login(f)}, test.method)
		if got != test.want {
			t.Errorf("%s: %s calls %s: %v, want %v", test.what, test.caller.name, test.method, got, test.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{"": Default, "all": All, "read": Read, "none": None} {
		if mode, ok := ParseMode(text); !ok || mode != want {
			t.Errorf("%q: %v, %t", text, mode, ok)
		}
	}
	if _, ok := ParseMode("ALL"); ok {
		t.Error("ALL is a mode")
	}
}
