/** Where taps of one hook stand among one another: lower comes first, 0 if a tap names none. A plugin of your own may use numbers between these. */
export const stages = {
  open: { storage: -1_000, cluster: -900 },
  http: { docs: -100, pages: 100 },
  request: { count: -300, configuration: -200, session: 0, policy: 10, recordable: 1_000 },
  // a tap beyond `count` runs before it: what is counted is final
  decision: { pause: -100, rules: 0, trace: 50, count: 1_000_000, flags: 1_000_001, metrics: 1_000_002 },
  forward: { metrics: -1_000, scenario: -100, upstream: 0 },
  proxy: { count: -300, configuration: -200, pause: -100, upstream: 0 },
  settle: { trace: -10, scenario: -5, record: 0, metrics: 50, evict: 100, log: 1_000, free: 10_000 },
  tool: { trace: -100, watch: 0 },
  keep: { write: -100, watch: 0 },
  close: { recorder: -300, streams: -200, http: -100, mcp: -50, push: 100, requests: 900, storage: 1_000 },
} as const
