import type { FailureTag } from './api.ts'

const FAILURE_TAGS: readonly unknown[] = ['loop', 'timeout', 'rate_limit', 'policy_block', 'test_failure']

export const isFailureTag = (tag: unknown): tag is FailureTag => FAILURE_TAGS.includes(tag)
