import { mcpCheckConforms } from 'guard-gateway/test'
import { branch } from '../../examples/custom-check.ts'

mcpCheckConforms(branch, {
  options: { arg: '/branch', allow: ['main', 'next'] },
  passes: { branch: 'next' },
  fails: { branch: 'release/9' },
})
