package peers

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

func testBase(dir string, fs vfs.FS) *base {
	return newBase(Config{Log: slog.New(slog.DiscardHandler), BanTime: time.Hour, Dir: dir, FS: fs})
}

func address(tb testing.TB, text string) netaddr.Addr {
	tb.Helper()
	a, err := netaddr.Parse(text, 8333)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// atOnce is a runner that runs its work before it returns.
func atOnce(work func() func()) { work()() }

// Random bans hold for exactly the same addresses and times as in a plain list that is searched
// linearly.
func TestBansHistories(t *testing.T) {
	const addrs = 4 // 10.0.N.1, each in a range of 256 and in one of all
	type oracle struct {
		text  string
		until int64
	}
	subnets := []string{"10.0.0.0/16"}
	for i := range addrs {
		subnets = append(subnets, fmt.Sprintf("10.0.%d.0/24", i), fmt.Sprintf("10.0.%d.1", i))
	}
	covers := func(subnet string, i int) bool {
		return strings.HasSuffix(subnet, "/16") || strings.HasPrefix(subnet, fmt.Sprintf("10.0.%d.", i))
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		k := loadBans(testBase("", nil))
		var list []oracle
		find := func(text string) int {
			return slices.IndexFunc(list, func(o oracle) bool { return o.text == text })
		}
		banned := func(i int, now int64) bool {
			return slices.ContainsFunc(list, func(o oracle) bool { return covers(o.text, i) && now < o.until })
		}
		now := int64(1000)
		for range 200 {
			now += r.Int64N(50)
			text, clock := subnets[r.IntN(len(subnets))], time.Unix(now, 0)
			switch at := find(text); r.IntN(8) {
			case 0, 1, 2, 3:
				q := messages.SetBan{Subnet: text, Time: r.Int64N(200), Absolute: r.IntN(2) == 0}
				if q.Absolute {
					q.Time += now - 100
				}
				until := now + q.Time
				if q.Absolute {
					until = q.Time
				}
				if q.Time <= 0 {
					until = now + int64(time.Hour/time.Second)
				}
				var want error
				switch is := at >= 0 && now < list[at].until; {
				case is, !strings.Contains(text, "/") && banned(int(text[5]-'0'), now):
					want = messages.ErrBanned
				case q.Absolute && q.Time < now:
					want = messages.ErrPast
				case at >= 0:
					list[at].until = max(list[at].until, until)
				default:
					list = append(list, oracle{text, until})
				}
				if _, err := k.add(&q, clock); !errors.Is(err, want) {
					t.Fatalf("seed %d: ban %+v at %d: %v, want %v", seed, q, now, err, want)
				}
			case 4:
				var want error
				if at < 0 {
					want = messages.ErrNotBanned
				} else {
					list = slices.Delete(list, at, at+1)
				}
				if err := k.remove(text); !errors.Is(err, want) {
					t.Fatalf("seed %d: unban %s: %v, want %v", seed, text, err, want)
				}
			case 5:
				list = slices.DeleteFunc(list, func(o oracle) bool { return now > o.until })
				if got := k.listed(clock); len(got) != len(list) {
					t.Fatalf("seed %d: %d are listed, want %d", seed, len(got), len(list))
				}
			case 6:
				if r.IntN(10) == 0 {
					k.clear()
					list = nil
				}
			}
			for i := range addrs {
				a := address(t, fmt.Sprintf("10.0.%d.1", i))
				if got := k.isBanned(a, clock); got != banned(i, now) || k.isUnwelcome(a, clock) != got {
					t.Fatalf("seed %d: %v is banned at %d: %v", seed, a, now, got)
				}
			}
		}
	}
}

// Misbehaving peers are remembered by address without the port, up to a limit.
func TestDiscouraged(t *testing.T) {
	k := loadBans(testBase("", nil))
	a, b := address(t, "9.9.9.9:1"), address(t, "9.9.9.8:1")
	k.discourage(a)
	if !k.isDiscouraged(address(t, "9.9.9.9:2")) || k.isDiscouraged(b) || !k.isUnwelcome(a, time.Unix(0, 0)) ||
		k.isBanned(a, time.Unix(0, 0)) {
		t.Error("the wrong address is discouraged")
	}
	for i := range maxDiscouraged + 10 {
		k.discourage(address(t, fmt.Sprintf("8.%d.%d.%d", i>>16, i>>8&255, i&255)))
	}
	if n := len(k.discouraged); n != maxDiscouraged {
		t.Errorf("%d addresses are remembered", n)
	}
}

// Bans that could not be written are written at the end, others are not written again.
func TestBansAtEnd(t *testing.T) {
	disk, dir := faultfs.New(), t.TempDir()
	k := loadBans(testBase(dir, disk))
	files := nodefiles.Files{FS: disk, Dir: dir}
	saved := 0
	ban := func(subnet string) {
		t.Helper()
		if _, err := k.add(&messages.SetBan{Subnet: subnet}, time.Now()); err != nil {
			t.Fatal(err)
		}
		k.save(atOnce, func() { saved++ })
	}
	disk.Inject(faultfs.From(0, os.ErrPermission))
	ban("1.2.3.4")
	disk.Inject(nil)
	if got, err := files.LoadBans(nil); err != nil || len(got.List()) != 0 || saved != 1 {
		t.Fatalf("%v, %v; %d were saved", got.List(), err, saved)
	}
	if err := k.saveAtEnd(); err != nil {
		t.Fatal(err)
	}
	if got, err := files.LoadBans(nil); err != nil || len(got.List()) != 1 {
		t.Errorf("%v, %v", got.List(), err)
	}
	ban("1.2.3.5")
	disk.Inject(faultfs.From(0, os.ErrPermission))
	if err := k.saveAtEnd(); err != nil || saved != 2 {
		t.Errorf("what is on disk is written again: %v", err)
	}
}

// In any order of saves and ends of writes, one write is under way at a time. Each
// waiting function is called once: after a write that began when its change was
// there.
func TestFileWriter(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var pending []func() func() // work that is to be run
		version, written, failures := 0, -1, 0
		fail := false
		w := fileWriter{
			content: func() []byte { return []byte{byte(version)} },
			write: func(content []byte) error {
				if fail {
					return os.ErrPermission
				}
				written = int(content[0])
				return nil
			},
			failed: func(error) { failures++ },
		}
		run := func(work func() func()) { pending = append(pending, work) }
		failed, called := false, []int{}
		finish := func() {
			if len(pending) != 1 {
				t.Fatalf("seed %d: %d writings at a time", seed, len(pending))
			}
			work := pending[0]
			pending = nil
			fail = r.IntN(4) == 0
			failed = fail
			work()()
		}
		for range 50 {
			if r.IntN(2) == 0 && version < 255 {
				version++
				wanted := version
				w.save(run, func() {
					if !failed && written < wanted {
						t.Errorf("seed %d: %d is called saved, on disk is %d", seed, wanted, written)
					}
					called = append(called, wanted)
				})
			} else if len(pending) > 0 {
				finish()
			}
			if w.unsaved != failed {
				t.Fatalf("seed %d: unsaved %v", seed, w.unsaved)
			}
		}
		for len(pending) > 0 {
			finish()
		}
		if len(called) != version || !slices.IsSorted(called) {
			t.Errorf("seed %d: called %v of %d", seed, called, version)
		}
		w.save(run, func() { t.Error("who was forgotten is called") })
		w.reset()
		if !w.unsaved || w.busy {
			t.Error("a writing that was given up counts as done")
		}
	}
}

// Nobody is told of addresses that are banned or discouraged.
func TestAddressesThatAreNotWelcome(t *testing.T) {
	r := newAddrRig(t, func(*Config) {})
	for _, host := range []string{"1.2.3.4", "5.6.7.8", "9.9.9.9"} {
		r.book.add(&messages.AddPeerAddress{Host: host, Port: 8333})
	}
	bans := loadBans(testBase("", nil))
	if _, err := bans.add(&messages.SetBan{Subnet: "1.2.0.0/16"}, r.book.cfg.Now()); err != nil {
		t.Fatal(err)
	}
	bans.discourage(address(t, "5.6.7.8"))
	list, err := r.book.list(&messages.GetNodeAddresses{}, bans)
	if err != nil || len(list) != 1 || list[0].Host != "9.9.9.9" {
		t.Errorf("got %+v, %v", list, err)
	}
}
