//go:build !race

package tokens

// raceDetector says whether the tests run under the race detector, which makes
// times meaningless and takes things out of pools at random.
const raceDetector = false
