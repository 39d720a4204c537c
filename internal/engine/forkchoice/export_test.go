package forkchoice

// Waiting returns for how many parents stored blocks wait.
func (c *Choice) Waiting() int { return len(c.unlinked) }
