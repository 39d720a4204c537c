package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
)

// nodeInfo is what -getinfo shows. The parts that a node without a wallet does not
// have are null.
type nodeInfo struct {
	network, chain, wallet *jsontree.Value
	balance                *jsontree.Value
	balances               []balance // where there are several wallets
	unit                   string    // of amounts
}

// balance is what a wallet has.
type balance struct{ wallet, amount string }

// getinfo shows the state of the node in short.
func (c *client) getinfo(words []string) (*jsontree.Value, error) {
	if len(words) > 0 {
		return nil, errors.New("-getinfo takes no arguments")
	}
	results, err := c.batch(2, "getnetworkinfo", "getblockchaininfo", "getwalletinfo", "getbalances")
	if err != nil {
		return nil, err
	}
	info := nodeInfo{
		network: results[0], chain: results[1], wallet: results[2], balance: trusted(results[3]),
		unit: options.MoneyOf(c.settings.Dialect()).Unit,
	}
	if c.wallet == nil {
		if info.balances, err = c.balances(); err != nil {
			return nil, err
		}
	}
	paint, err := newPaint(c.settings.String("color", "auto"), c.colour)
	if err != nil {
		return nil, err
	}
	text, err := info.text(paint)
	if err != nil {
		return nil, err
	}
	return jsontree.NewString(text), nil
}

// trusted is the part of a wallet's balances that is shown.
func trusted(balances *jsontree.Value) *jsontree.Value { return balances.Get("mine").Get("trusted") }

// balances asks each wallet of a node that has several.
func (c *client) balances() ([]balance, error) {
	listed, err := c.call(nil, "listwallets", jsontree.NewArray())
	if err != nil {
		return nil, err
	}
	if !listed.failure.IsNull() || listed.result.Len() <= 1 {
		return nil, nil
	}
	var all []balance
	for _, wallet := range listed.result.Elements() {
		name, err := wallet.AsString()
		if err != nil {
			return nil, err
		}
		answer, err := c.call(&name, "getbalances", jsontree.NewArray())
		if err != nil {
			return nil, err
		}
		all = append(all, balance{name, plain(trusted(answer.result))})
	}
	return all, nil
}

// text lays the state out as Core does.
func (i *nodeInfo) text(p paint) (string, error) {
	verified, err := verification(i.chain.Get("verificationprogress"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sChain: %s%s\n", p.blue, plain(i.chain.Get("chain")), p.reset)
	fmt.Fprintf(&b, "Blocks: %s\n", plain(i.chain.Get("blocks")))
	fmt.Fprintf(&b, "Headers: %s\n", plain(i.chain.Get("headers")))
	fmt.Fprintf(&b, "Verification progress: %s\n", verified)
	fmt.Fprintf(&b, "Difficulty: %s\n\n", plain(i.chain.Get("difficulty")))
	fmt.Fprintf(&b, "%sNetwork: in %s, out %s, total %s%s\n", p.green, plain(i.network.Get("connections_in")),
		plain(i.network.Get("connections_out")), plain(i.network.Get("connections")), p.reset)
	fmt.Fprintf(&b, "Version: %s\n", plain(i.network.Get("version")))
	fmt.Fprintf(&b, "Time offset (s): %s\n", plain(i.network.Get("timeoffset")))
	fmt.Fprintf(&b, "Proxies: %s\n", proxies(i.network.Get("networks")))
	fmt.Fprintf(&b, "Min tx relay fee rate (%s/kvB): %s\n\n", i.unit, plain(i.network.Get("relayfee")))
	i.writeWallets(&b, p)
	fmt.Fprintf(&b, "%sWarnings:%s %s", p.yellow, p.reset, orElse(plain(i.network.Get("warnings")), "(none)"))
	return b.String(), nil
}

func (i *nodeInfo) writeWallets(b *strings.Builder, p paint) {
	if !i.wallet.IsNull() {
		fmt.Fprintf(b, "%sWallet: %s%s\n", p.magenta, orElse(plain(i.wallet.Get("walletname")), `""`), p.reset)
		fmt.Fprintf(b, "Keypool size: %s\n", plain(i.wallet.Get("keypoolsize")))
		if until := i.wallet.Get("unlocked_until"); !until.IsNull() {
			fmt.Fprintf(b, "Unlocked until: %s\n", plain(until))
		}
		if fee := i.wallet.Get("paytxfee"); fee != nil { // Core 31 has no such rate
			fmt.Fprintf(b, "Transaction fee rate (-paytxfee) (%s/kvB): %s\n\n", i.unit, plain(fee))
		}
	}
	if !i.balance.IsNull() {
		fmt.Fprintf(b, "%sBalance:%s %s\n\n", p.cyan, p.reset, plain(i.balance))
	}
	if len(i.balances) == 0 {
		return
	}
	width := 10
	for _, of := range i.balances {
		width = max(width, len(of.amount))
	}
	fmt.Fprintf(b, "%sBalances%s\n", p.cyan, p.reset)
	for _, of := range i.balances {
		fmt.Fprintf(b, "%*s %s\n", width, of.amount, orElse(of.wallet, `""`))
	}
	b.WriteByte('\n')
}

// plain is a string or a number as it is, and nothing for everything else but true,
// which Core shows as 1.
func plain(v *jsontree.Value) string {
	if on, err := v.AsBool(); err == nil && on {
		return "1"
	}
	return v.Text()
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// doneAbove is from where on the bar beside the verification is left out.
const doneAbove = 0.99

// verification is the progress of the chain as a percentage, and as a bar while
// it is far from its end.
func verification(progress *jsontree.Value) (string, error) {
	done, err := progress.AsFloat64()
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%.4f%%", done*100)
	if done < doneAbove {
		return bar(done) + " " + text, nil
	}
	return text, nil
}

// bar draws a share from 0 to 1 with one sign for each beginning twentieth.
func bar(share float64) string {
	if share < 0 || share > 1 {
		return ""
	}
	const step = 0.05
	var b strings.Builder
	for i := 0; float64(i) < share/step; i++ {
		b.WriteRune('▒')
	}
	for i := 0; float64(i) < (1-share)/step; i++ {
		b.WriteRune('░')
	}
	return b.String()
}

// proxies lists each proxy with the networks that are reached through it.
func proxies(networks *jsontree.Value) string {
	var order []string
	through := map[string][]string{}
	for _, network := range networks.Elements() {
		proxy := network.Get("proxy").Text()
		if proxy == "" {
			continue
		}
		if through[proxy] == nil {
			order = append(order, proxy)
		}
		through[proxy] = append(through[proxy], network.Get("name").Text())
	}
	for i, proxy := range order {
		order[i] = fmt.Sprintf("%s (%s)", proxy, strings.Join(through[proxy], ", "))
	}
	return orElse(strings.Join(order, ", "), "n/a")
}

// paint holds the codes that colour a terminal's text, all empty for none.
type paint struct{ reset, green, blue, yellow, magenta, cyan string }

// newPaint reads -color.
func newPaint(when string, terminal bool) (paint, error) {
	switch when {
	case "always":
		terminal = true
	case "never":
		terminal = false
	case "auto":
	default:
		return paint{}, failf("Invalid value for -color option. Valid values: always, auto, never.")
	}
	if !terminal {
		return paint{}, nil
	}
	return paint{"\x1b[0m", "\x1b[32m", "\x1b[34m", "\x1b[33m", "\x1b[35m", "\x1b[36m"}, nil
}
