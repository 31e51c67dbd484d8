export {
  type OutgoingAnswer,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingRequest,
  outgoingHttp,
} from './outgoing-http.ts';
