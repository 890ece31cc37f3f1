import type { Plugin, Settled } from 'guard-gateway/core'

/** Remembers every finished call, once it is recorded. */
export interface Settlements extends Plugin {
  readonly all: readonly Settled[]
  /** Resolves to the first `count` calls when so many are recorded. */
  reach(count: number): Promise<readonly Settled[]>
}

/** A plugin for the end of the list: what it sees, the plugins before it have dealt with. */
export const settlements = (): Settlements => {
  const all: Settled[] = []
  const waiting: { readonly count: number; readonly resolve: (calls: readonly Settled[]) => void }[] = []
  return {
    name: 'settlements',
    all,
    reach: (count) =>
      all.length >= count ? Promise.resolve(all) : new Promise((resolve) => void waiting.push({ count, resolve })),
    apply(gateway) {
      gateway.hooks.settle.tap({ name: 'settlements', stage: 1000 }, (settled) => {
        all.push(settled)
        for (const { count, resolve } of waiting) if (all.length >= count) resolve(all)
      })
    },
  }
}
