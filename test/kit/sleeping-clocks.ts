// Loaded into a process that a test stops, before anything else: after a stop its clocks are a day on, as after a day asleep.
// Wall time always; monotonic time too where the system counts sleep in it, which SLEEP_COUNTS=monotonic says.

const DAY_MS = 86_400_000
/** A longer time without a tick is a stop. */
const STOP_MS = 1_000

const wall = Date.now
const monotonic = performance.now.bind(performance)
let slept = 0
let seen = monotonic()

const notice = (): number => {
  const now = monotonic()
  if (now - seen > STOP_MS) slept += DAY_MS
  seen = now
  return slept
}

setInterval(notice, STOP_MS / 20).unref()
Date.now = () => wall() + notice()
if (process.env.SLEEP_COUNTS === 'monotonic') performance.now = () => monotonic() + notice()
