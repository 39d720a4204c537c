package web

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

// A peerPage is the data of the page with all peers.
type peerPage struct {
	Crowd  *crowd
	Peers  []peer
	More   int
	Failed []string
}

func peersModel(ctx context.Context, v viewer, _ url.Values) (any, error) {
	n := &noting{viewer: v}
	p := &peerPage{Crowd: &crowd{}}
	if all := get[[]peer](ctx, n, nil, "getpeerinfo"); all != nil {
		p.Crowd = crowdOf(*all)
		p.Peers = (*all)[:min(len(*all), maxRows)]
		p.More = len(*all) - len(p.Peers)
	}
	p.Failed = n.words()
	return p, nil
}

// A crowd is all peers as a picture.
type crowd struct {
	All, In, Out int
	Spots        []spot
	Nets         []network
}

// A spot is a peer in the picture.
type spot struct {
	X, Y string
	In   bool
}

// A network is how many peers are on a network, and how wide the bars of them are.
type network struct {
	Name              string
	All, in, out      int
	OutWidth, InWidth string
}

// netNames are the networks in the words of the page.
var netNames = map[string]string{
	"ipv4": "IPv4", "ipv6": "IPv6", "onion": "Onion", "i2p": "I2P", "cjdns": "CJDNS", "not_publicly_routable": "Local",
}

const (
	maxSpots    = 64
	spotsRadius = 64.0
	goldenAngle = 2.399963
)

// crowdOf makes the picture. The angle of a peer says nothing; the nearer it is, the quicker it answers.
func crowdOf(peers []peer) *crowd {
	c := &crowd{All: len(peers)}
	byName := map[string]*network{}
	for i := range peers {
		p := &peers[i]
		name := cmp.Or(netNames[p.Network], clean(p.Network), "Other")
		n := byName[name]
		if n == nil {
			n = &network{Name: name}
			byName[name] = n
		}
		n.All++
		if p.Inbound {
			n.in++
			c.In++
		} else {
			n.out++
			c.Out++
		}
	}
	most := 1
	for _, n := range byName {
		most = max(most, n.All)
	}
	for _, n := range byName {
		n.OutWidth = chart.Coord(100 * float64(n.out) / float64(most))
		n.InWidth = chart.Coord(100 * float64(n.in) / float64(most))
		c.Nets = append(c.Nets, *n)
	}
	slices.SortFunc(c.Nets, func(a, b network) int {
		return cmp.Or(cmp.Compare(b.All, a.All), cmp.Compare(a.Name, b.Name))
	})
	c.Nets = c.Nets[:min(len(c.Nets), 6)]
	near := slices.Clone(peers)
	slices.SortStableFunc(near, func(a, b peer) int { return cmp.Compare(a.PingTime, b.PingTime) })
	near = near[:min(len(near), maxSpots)]
	for i, p := range near {
		angle := float64(i)*goldenAngle - 1.3
		radius := spotsRadius * (0.3 + 0.66*math.Sqrt(float64(i+1)/float64(len(near))))
		x, y := math.Cos(angle)*radius, math.Sin(angle)*radius
		c.Spots = append(c.Spots, spot{chart.Coord(x), chart.Coord(y), p.Inbound})
	}
	return c
}
