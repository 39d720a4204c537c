package bench

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/descriptor"
)

const (
	discoveredAccounts = 8    // that are used, of each form
	discoveredHighest  = 1    // index that is used in each chain
	discoveryGap       = 1000 // addresses
)

// privateKey is the private key of masterKey.
const privateKey = "tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5ecvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m"

// BenchmarkDiscovery looks for 8 accounts of each of 4 forms with a gap of 1,000 addresses by discoveraccounts, and for
// the same scripts by one scanblocks with filter_false_positives, in turn. A scanblocks of one block shows how long the
// derivation of the scripts takes, which is taken off for of-scan.
func BenchmarkDiscovery(b *testing.B) {
	p := open(b, node(filepath.Join(folder(b), "discovery"), 0))
	payAccounts(b, p)
	b.Run(fmt.Sprintf("accounts=%d", discoveredAccounts), func(b *testing.B) {
		defer asDaemon()()
		var found struct {
			Accounts []any
			Passes   int
			Receipt  struct {
				Scripts     int
				Descriptors []any
			}
		}
		var took, derive, scan time.Duration
		rounds := 0
		timed := func(result any, method string, params ...any) time.Duration {
			began := time.Now()
			if err := p.Call(b.Context(), result, method, params...); err != nil {
				b.Fatal(method, ": ", err)
			}
			return time.Since(began)
		}
		for b.Loop() {
			progress("discover accounts")
			took += timed(&found, "discoveraccounts", "start", privateKey, "", map[string]any{"gap": discoveryGap})
			if len(found.Accounts) != 4*discoveredAccounts {
				b.Fatalf("%d accounts were found", len(found.Accounts))
			}
			progress("scan for %d scripts", found.Receipt.Scripts)
			options := map[string]any{"filter_false_positives": true}
			if rounds == 0 { // further calls know the scripts of the first
				derive = timed(nil, "scanblocks", "start", found.Receipt.Descriptors, 0, 0, "basic", options)
			}
			scan += timed(nil, "scanblocks", "start", found.Receipt.Descriptors, 0, nil, "basic", options)
			rounds++
		}
		once, alone := took/time.Duration(rounds), scan/time.Duration(rounds)
		b.ReportMetric(float64(once.Milliseconds()), "ms")
		b.ReportMetric(float64(derive.Milliseconds()), "derive-ms")
		b.ReportMetric(float64(alone.Milliseconds()), "scan-ms")
		b.ReportMetric(float64(once-derive)/float64(alone), "of-scan")
		b.ReportMetric(float64(found.Receipt.Scripts), "scripts")
		b.ReportMetric(float64(found.Passes), "passes")
	})
}

// payAccounts makes blocks that pay the accounts, unless they are there.
func payAccounts(b *testing.B, p *peer) {
	b.Helper()
	if p.height(b) > *flagBlocks {
		return
	}
	net := p.node.Descriptors()
	for _, form := range []struct {
		text    string
		purpose int
	}{{"pkh(%s)", 44}, {"sh(wpkh(%s))", 49}, {"wpkh(%s)", 84}, {"tr(%s)", 86}} {
		for account := range discoveredAccounts {
			for change := range 2 {
				key := fmt.Sprintf("%s/%dh/1h/%dh/%d/*", privateKey, form.purpose, account, change)
				branches, err := descriptor.Parse(fmt.Sprintf(form.text, key), net, descriptor.Options{})
				if err != nil {
					b.Fatal(err)
				}
				scripts, err := branches[0].Expand(discoveredHighest)
				if err != nil {
					b.Fatal(err)
				}
				out := descriptor.AddChecksum("raw(" + hex.EncodeToString(scripts[0]) + ")")
				if err := p.Call(b.Context(), nil, "generatetodescriptor", 1, out); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
