package psbt

import "slices"

// MapsOf are the maps of a packet as they are written.
func MapsOf(p *Packet) []Map {
	global, inputs, outputs := p.maps()
	return slices.Concat([]Map{global}, inputs, outputs)
}
