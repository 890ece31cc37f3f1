import { mcpResultCheckConforms } from 'guard-gateway/test'
import { codeNames } from '../../examples/custom-result-check.ts'

mcpResultCheckConforms(codeNames, {
  options: { names: ['Aurora'] },
  passes: 'The northern lights were seen.',
  fails: 'Aurora ships in May, and Aurora 2 after it.',
})
