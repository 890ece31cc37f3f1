import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/mcp-checks/README.md',
  example: 'custom-check',
  tests: 7,
  plugin: 'mcp-check/branch',
})
