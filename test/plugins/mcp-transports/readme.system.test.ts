import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/mcp-transports/README.md',
  example: 'custom-transport',
  tests: 6,
  plugin: 'mcp-transport/tcp',
})
