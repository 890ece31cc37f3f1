export { outboundHeaders } from '../http.ts'
