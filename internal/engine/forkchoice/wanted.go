package forkchoice

import "github.com/seed61375155/trawl/internal/chainview"

// Wanted returns the lowest block that keeps the tip from the best chain because something is lacking,
// see [Choice.Withhold]; nil where no block does.
func (c *Choice) Wanted(tip *chainview.Block) (lowest *chainview.Block) {
	lacks := c.withheld
	if lacks == nil {
		return nil
	}
	c.withheld = nil
	best := c.Best(tip)
	c.withheld = lacks
	for b := range best.Above(tip.ForkHeight(best)) {
		if lacks(b) {
			lowest = b
		}
	}
	return lowest
}
