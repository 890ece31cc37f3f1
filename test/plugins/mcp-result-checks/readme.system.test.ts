import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/mcp-result-checks/README.md',
  example: 'custom-result-check',
  tests: 6,
  plugin: 'mcp-result-check/code_names',
})
