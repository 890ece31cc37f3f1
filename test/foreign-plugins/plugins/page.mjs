import { html } from 'guard-gateway/lib/html'
import { pageKind } from 'guard-gateway/lib/page'

export const page = {
  name: 'greeting-page',
  requires: ['ui'],
  apply(gateway) {
    gateway.registry(pageKind).add({
      id: 'greeting',
      path: '/greeting',
      render: async () => ({ title: 'Greeting', main: html`<h1>Hello from outside</h1>` }),
    })
  },
}
