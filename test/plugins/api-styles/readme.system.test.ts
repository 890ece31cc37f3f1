import { followGuide } from '../../kit/guide.ts'

followGuide({
  readme: 'plugins/api-styles/README.md',
  example: 'custom-api-style',
  tests: 14,
  plugin: 'api-style/cohere_chat',
})
