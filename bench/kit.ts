// Building blocks for custom benches, published as guard-gateway/bench.

export { body, conversationOf } from './kit/bodies.ts'
export { callOf, NOON, silentClient } from './kit/calls.ts'
export { fullEvidence, ruleOf } from './kit/evidence.ts'
export { prose, random } from './kit/random.ts'
export { duration, median, printTable } from './kit/table.ts'
export { bodyOf, STAMP, stamp, type Template, type TemplateOptions, template } from './kit/template.ts'
export { type Measured, times, timesAsync } from './kit/times.ts'
