"""Calls the daemon as a client that was not written with ours: Debian's grpcio.

    call_daemon.py ADDRESS stubs|reflection < calls.json

`stubs` uses modules that protoc made of the contract; `reflection` asks the daemon for its schema and knows nothing else. Calls are
[[operation, request], …]; each answers one line of JSON: the fields in the order they came, the last result, the status.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

SERVICE = "statesvc.StateService"


def from_stubs(channel):
    import statesvc_pb2
    import statesvc_pb2_grpc

    stub = statesvc_pb2_grpc.StateServiceStub(channel)
    service = statesvc_pb2.DESCRIPTOR.services_by_name["StateService"]
    return service, lambda method, request: getattr(stub, method.name)(request, timeout=30)


def from_reflection(channel):
    import reflection_pb2
    import reflection_pb2_grpc

    pool = descriptor_pool.DescriptorPool()
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE)
    for answer in stub.ServerReflectionInfo(iter([asked])):
        for file in answer.file_descriptor_response.file_descriptor_proto:
            pool.Add(descriptor_pb2.FileDescriptorProto.FromString(file))
    service = pool.FindServiceByName(SERVICE)

    def call(method, request):
        answer = message_factory.MessageFactory(pool).GetPrototype(method.output_type)
        multi = channel.unary_stream(
            f"/{SERVICE}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        return multi(request, timeout=30)

    return service, call


def main(address, way):
    channel = grpc.insecure_channel(address)
    service, call = (from_stubs if way == "stubs" else from_reflection)(channel)
    factory = message_factory.MessageFactory(service.file.pool)
    for name, fields in json.load(sys.stdin):
        method = service.methods_by_name[name]
        request = factory.GetPrototype(method.input_type)()
        json_format.ParseDict(fields, request)
        order, result, largest, code, details = [], None, 0, "OK", ""
        try:
            for message in call(method, request):
                choice = message.WhichOneof("reply") if "reply" in message.DESCRIPTOR.oneofs_by_name else "log"
                order.append(choice)
                largest = max(largest, message.ByteSize())
                if choice != "log":
                    value = getattr(message, choice)
                    result = len(value) if isinstance(value, bytes) else value
        except grpc.RpcError as error:
            code, details = error.code().name, error.details()
        said = {"name": name, "order": order, "result": result, "largest": largest, "code": code, "details": details}
        print(json.dumps(said), flush=True)


main(*sys.argv[1:])
