export { isNewChange } from './tools/changed.ts'
export { changes, effectOf, effectOfName, whilePending } from './tools/effect.ts'
export { toolMatcher } from './tools/matcher.ts'
export { isProse, withoutProse } from './tools/prose.ts'
