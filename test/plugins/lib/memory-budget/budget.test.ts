import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { defaultBudgetBytes, estimatedBytes, MemoryBudget, type PartOptions } from '#lib/memory-budget'

const LOOK_MS = 30_000
const MIB = 2 ** 20

/** A store of so many bytes, of which `inUse` cannot be freed. */
const storeIn = (budget: MemoryBudget, name: string, options: Partial<PartOptions> = {}) => {
  const store = { bytes: 0, inUse: 0, shrinks: 0, hold: (_bytes: number) => {} }
  const part = budget.part({
    name,
    shrink: (bytes) => {
      store.shrinks++
      store.bytes = Math.min(store.bytes, Math.max(store.inUse, bytes))
      part.hold(store.bytes)
    },
    ...options,
  })
  store.hold = (bytes) => {
    store.bytes = bytes
    part.hold(bytes)
  }
  return store
}

describe('a memory budget', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('leaves to one store what others do not take', () => {
    const budget = new MemoryBudget(1_600)
    const [one, other] = [storeIn(budget, 'one'), storeIn(budget, 'other')]
    one.hold(1_500)
    other.hold(100)
    assert.deepEqual([one.bytes, other.bytes, budget.held], [1_500, 100, 1_600])
  })
  it('shrinks the largest stores to one level, and a sixteenth further than it must', () => {
    const budget = new MemoryBudget(1_600)
    const stores = [storeIn(budget, 'a'), storeIn(budget, 'b'), storeIn(budget, 'c')] as const
    stores[0].hold(300)
    stores[1].hold(700)
    stores[2].hold(900)
    assert.deepEqual(
      stores.map(({ bytes }) => bytes),
      [300, 600, 600],
    )
    assert.equal(budget.held, 1_500)
  })
  it('shrinks stores first that nobody used lately', () => {
    const budget = new MemoryBudget(1_600)
    const [unused, used] = [storeIn(budget, 'unused'), storeIn(budget, 'used')]
    unused.hold(800)
    mock.timers.tick(LOOK_MS)
    used.hold(400)
    mock.timers.tick(LOOK_MS)
    used.hold(900)
    assert.deepEqual([unused.bytes, used.bytes], [600, 900])
  })
  it('does not try at each use to free what is in use', () => {
    const budget = new MemoryBudget(1_600)
    const store = storeIn(budget, 'busy')
    store.inUse = 2_000
    for (let bytes = 1_601; bytes <= 1_700; bytes++) store.hold(bytes)
    assert.equal(store.shrinks, 1)
    store.hold(1_800)
    assert.equal(store.shrinks, 2)
    store.inUse = 0
    store.hold(1_950)
    assert.equal(budget.held, 1_500)
  })
  it('empties a store that was not used for two minutes, though others are', () => {
    const budget = new MemoryBudget(1_600)
    const [unused, used] = [storeIn(budget, 'unused'), storeIn(budget, 'used')]
    unused.hold(100)
    for (let look = 0; look < 5; look++) {
      assert.equal(unused.bytes, 100)
      used.hold(100)
      mock.timers.tick(LOOK_MS)
    }
    assert.deepEqual([unused.bytes, used.bytes, budget.held], [0, 100, 100])
  })
  it('leaves a store that could not be filled again', () => {
    const budget = new MemoryBudget(1_600)
    const store = storeIn(budget, 'kept', { staysIdle: true })
    store.hold(100)
    for (let look = 0; look < 20; look++) mock.timers.tick(LOOK_MS)
    assert.equal(store.bytes, 100)
  })
  it('is quiet half a minute after the last use and after stores were emptied, and rests until the next', () => {
    const budget = new MemoryBudget(1_600)
    const store = storeIn(budget, 'one')
    const quiet: number[] = []
    let looks = 0
    budget.onQuiet(() => quiet.push(looks))
    const look = (count: number) => {
      for (let n = 0; n < count; n++) {
        looks++
        mock.timers.tick(LOOK_MS)
      }
    }
    look(3)
    assert.deepEqual(quiet, [1])
    store.hold(100)
    store.inUse = 40
    look(20)
    // used before the 4th look; unused at the 5th to 8th, which empties it; what is left is tried once more
    assert.deepEqual(quiet, [1, 5, 8])
    assert.deepEqual([store.shrinks, store.bytes], [2, 40])
    store.inUse = 0
    store.hold(50)
    look(20)
    assert.deepEqual(quiet, [1, 5, 8, 25, 28])
    assert.equal(budget.held, 0)
  })
  it('adds up parts of one name', () => {
    const budget = new MemoryBudget(48 * MIB)
    for (const bytes of [1, 2]) storeIn(budget, 'same').hold(bytes)
    assert.deepEqual([budget.bytes, [...budget.byName()]], [48 * MIB, [['same', 3]]])
    budget.end()
  })
})

describe('the budget of a gateway that configures none', () => {
  for (const [what, limits, mebibytes] of [
    ['an eighth of a machine', [2048, 0, 4096], 256],
    ['at least 48 MiB in a small container', [2048, 256, 4096], 48],
    ['an eighth of what its control group may have', [65_536, 1024, 4096], 128],
    ['less where the heap of V8 is small', [65_536, 0, 512], 64],
    ['at most 512 MiB', [65_536, 0, 16_384], 512],
  ] as const)
    it(`is ${what}`, () => assert.equal(defaultBudgetBytes(limits.map((limit) => limit * MIB)), mebibytes * MIB))
})

describe('a budget of more than 48 MiB', () => {
  it('is used beyond them by what is in use, and by that alone', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const budget = new MemoryBudget(96 * MIB)
    const store = { bytes: 0, inUse: 0 }
    const part = budget.part({
      name: 'bodies',
      shrink: (bytes, isUrgent) => {
        store.bytes = isUrgent ? bytes : Math.min(store.bytes, Math.max(bytes, store.inUse))
        part.hold(store.bytes)
      },
    })
    const hold = (mebibytes: number) => {
      store.bytes = mebibytes * MIB
      part.hold(store.bytes)
      return budget.held / MIB
    }
    store.inUse = 80 * MIB
    assert.deepEqual([hold(48), hold(70), hold(90), hold(97)], [48, 70, 80, 90])
    store.inUse = 0
    mock.timers.tick(LOOK_MS)
    assert.equal(budget.held, 45 * MIB)
    budget.end()
    mock.timers.reset()
  })
})

describe('an estimate of bytes', () => {
  it('counts texts, typed arrays, members and entries, to a limited depth', () => {
    assert.equal(estimatedBytes('abc'), 11)
    assert.equal(estimatedBytes(new Uint32Array(100)), 456)
    assert.equal(estimatedBytes({ a: 1, b: [1, 2] }), 56 + 16 + 8 + 56 + 32)
    assert.equal(estimatedBytes(new Map([['k', new Set([null])]])), 56 + 8 + 9 + 8 + 56 + 16)
    const ring: { self?: unknown } = {}
    ring.self = ring
    assert.ok(estimatedBytes(ring) < 1_000)
  })
})
