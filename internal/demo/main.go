// Command demo shows the node at work on real blocks. It loads the first 14,131
// blocks of Bitcoin's main chain into a throw-away data directory, builds their
// filter index, and searches it through trawl-cli. Usage:
//
//	go run ./internal/demo -bin DIR
//
// It needs nothing but the two programs in DIR and touches no network.
package main

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	blocks    = "internal/e2e/testdata/golden/mainnet/mainnet-0-14131.blk.gz"
	tipHeight = 14131
	patience  = 5 * time.Minute
)

func main() {
	bin := flag.String("bin", "bin", "folder of trawld and trawl-cli")
	flag.Parse()
	if err := run(*bin); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(bin string) error {
	dir, err := os.MkdirTemp("", "trawl-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "blocks.dat")
	if err := unpack(blocks, file); err != nil {
		return err
	}
	d, err := start(bin, dir, file)
	if err != nil {
		return err
	}
	shown := d.show()
	return errors.Join(shown, d.stop())
}

// unpack writes the decompressed file from to the file to.
func unpack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, z)
	return errors.Join(err, out.Close())
}

// demo is a running node and how to call it.
type demo struct {
	cli   []string
	node  *exec.Cmd
	shown func(string) string // a command with $dir in place of the folder
}

func start(bin, dir, file string) (*demo, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	at := []string{"-datadir=" + dir, "-rpcport=" + port}
	d := &demo{
		cli: append([]string{filepath.Join(bin, "trawl-cli")}, at...),
		node: exec.Command(filepath.Join(bin, "trawld"), append(at,
			"-loadblock="+file, "-blockfilterindex", "-printtoconsole=0", "-listen=0", "-connect=0")...),
	}
	d.node.Stderr = os.Stderr
	d.shown = strings.NewReplacer(dir, "$dir").Replace
	fmt.Printf("$ dir=$(mktemp -d)\n$ gzip -dc %s >$dir/%s\n$ %s &\n", blocks, filepath.Base(file),
		d.shown(strings.Join(d.node.Args, " ")))
	return d, d.node.Start()
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func (d *demo) show() error {
	if err := d.wait(); err != nil {
		return err
	}
	for _, s := range scenes {
		fmt.Printf("\n%s\n$ %s %s\n", s.title, d.shown(strings.Join(d.cli, " ")), quote(s.args))
		began := time.Now()
		out, err := d.call(s.args...)
		if err != nil {
			return err
		}
		fmt.Printf(
			"%s\n(%.1f ms, trawl-cli's own start included)\n", shorten(out),
			float64(time.Since(began).Microseconds())/1000,
		)
	}
	return nil
}

// call runs trawl-cli.
func (d *demo) call(args ...string) (string, error) {
	command := append(d.cli[1:len(d.cli):len(d.cli)], args...)
	out, err := exec.Command(d.cli[0], command...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("trawl-cli %s: %s", quote(args), strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimRight(string(out), "\n"), err
}

// wait draws how far the blocks and their filters have come, until they are
// all there.
func (d *demo) wait() error {
	if _, err := d.call("-rpcwait", "-rpcwaittimeout=60", "uptime"); err != nil {
		return err
	}
	began := time.Now()
	show := newBar(os.Stdout)
	defer show.end()
	for time.Since(began) < patience {
		height, err := d.number("getblockcount")
		if err != nil {
			return err
		}
		index, err := d.call("getindexinfo")
		if err != nil {
			return err
		}
		show.draw(float64(height)/tipHeight, fmt.Sprintf("block %d of %d", height, tipHeight))
		if height == tipHeight && strings.Contains(index, fmt.Sprintf(`"best_block_height": %d`, tipHeight)) {
			show.draw(
				1, fmt.Sprintf("%d blocks validated and indexed in %.1f s", tipHeight+1, time.Since(began).Seconds()),
			)
			return nil
		}
	}
	return errors.New("the blocks did not load in time")
}

func (d *demo) number(method string) (int, error) {
	out, err := d.call(method)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

func (d *demo) stop() error {
	fmt.Printf("\n$ %s stop\n", d.shown(strings.Join(d.cli, " ")))
	out, err := d.call("stop")
	if err != nil {
		_ = d.node.Process.Kill()
		return errors.Join(err, d.node.Wait())
	}
	fmt.Println(out)
	return d.node.Wait()
}
