export const clash = {
  name: 'clash',
  apply({ hooks }) {
    hooks.http.tap('clash', (app) => {
      app.get('/sessions', () => 'mine')
    })
  },
}
