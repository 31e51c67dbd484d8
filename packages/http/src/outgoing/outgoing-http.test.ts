import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { OutgoingFailed, outgoingHttp } from './outgoing-http.ts';
import { isPublicAddress } from './public-address.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A server on loopback that keeps what it receives. */
async function server(answer: (request: Received, response: ServerResponse) => void) {
  const received: Received[] = [];
  const listener = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    received.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  const { port } = listener.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, received };
}

const trusting = (...trusted: string[]) => outgoingHttp({ userAgent: 'croft-test', trusted });

async function failure(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof OutgoingFailed ? error.reason : `not refused: ${String(error)}`;
}

describe('a request to an origin the operator configured', () => {
  it('carries what it was given and brings the answer, whatever its status', async () => {
    const peer = await server((_request, response) => {
      response.writeHead(422, { 'content-type': 'application/json', 'x-kind': 'a' }).end('{"code":21211}');
    });
    const answer = await trusting(`${peer.origin}/any`)(`${peer.origin}/send?x=1`, {
      form: { To: '+49 1', Body: 'Grüße & more' },
      headers: { 'X-Mine': 'yes' },
      basic: { user: 'AC1', password: 'pass:wörd' },
    });
    expect(answer.status).toBe(422);
    expect(answer.headers.get('x-kind')).toBe('a');
    expect(answer.json()).toEqual({ code: 21211 });
    const [request] = peer.received;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/send?x=1',
      body: 'To=%2B49+1&Body=Gr%C3%BC%C3%9Fe+%26+more',
    });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'croft-test',
      'x-mine': 'yes',
      authorization: `Basic ${Buffer.from('AC1:pass:wörd').toString('base64')}`,
    });
  });

  it('is a GET without a body and can carry JSON', async () => {
    const peer = await server((_request, response) => response.end('no json'));
    const http = trusting(peer.origin);
    const answer = await http(peer.origin);
    await http(peer.origin, { json: { a: [1] } });
    expect(answer.json()).toBeUndefined();
    expect(answer.text).toBe('no json');
    expect(peer.received.map(({ method, body }) => [method, body])).toEqual([
      ['GET', ''],
      ['POST', '{"a":[1]}'],
    ]);
  });

  it('is given up after its time, also when the answer only trickles in', async () => {
    const silent = await server(() => undefined);
    const trickling = await server((_request, response) => {
      response.write('a');
      const timer = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const http = trusting(silent.origin, trickling.origin);
    expect(await failure(http(silent.origin, { timeoutMs: 80 }))).toBe('time-out');
    expect(await failure(http(trickling.origin, { timeoutMs: 80 }))).toBe('time-out');
  });

  it('ends with the reason of the caller who gave up', async () => {
    const silent = await server(() => undefined);
    const giveUp = new AbortController();
    const attempt = trusting(silent.origin)(silent.origin, {}, giveUp.signal);
    giveUp.abort(new Error('shutting down'));
    await expect(attempt).rejects.toThrow('shutting down');
    await expect(trusting(silent.origin)(silent.origin, {}, giveUp.signal)).rejects.toThrow('shutting down');
  });

  it('is cut off at its size while it is read', async () => {
    let written = 0;
    const peer = await server((_request, response) => {
      const more = () => {
        while (!response.destroyed && written < 50_000_000) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    expect(await failure(trusting(peer.origin)(peer.origin, { maxBytes: 100_000 }))).toBe('too-large');
    expect(written).toBeLessThan(50_000_000);
  });

  it('says that nobody listens, without the path, which may hold a secret', async () => {
    const peer = await server((_request, response) => response.destroy());
    const attempt = trusting(peer.origin)(`${peer.origin}/secret-path?key=secret-key`);
    await expect(attempt).rejects.toMatchObject({ reason: 'network' });
    await expect(attempt).rejects.not.toThrow(/secret/);
    // Port 1 of loopback is where nothing listens.
    expect(await failure(trusting('http://127.0.0.1:1')('http://127.0.0.1:1/'))).toBe('network');
  });
});

describe('redirects', () => {
  it('are followed within the origin; a POST becomes a GET unless the server says otherwise', async () => {
    const peer = await server(({ url }, response) => {
      if (url === '/303') response.writeHead(303, { location: '/end' }).end();
      else if (url === '/307')
        response.writeHead(307, { location: `http://${response.req.headers.host}/end` }).end();
      else response.end('there');
    });
    const http = trusting(peer.origin);
    expect((await http(`${peer.origin}/303`, { form: { a: '1' } })).text).toBe('there');
    expect((await http(`${peer.origin}/307`, { form: { a: '1' } })).text).toBe('there');
    expect(
      peer.received.filter(({ url }) => url === '/end').map(({ method, body }) => [method, body]),
    ).toEqual([
      ['GET', ''],
      ['POST', 'a=1'],
    ]);
  });

  it('lead to no other origin, trusted or not, and not in circles', async () => {
    const inner = await server((_request, response) => response.end('secret'));
    const outer = await server(({ url }, response) => {
      const targets: Record<string, string> = {
        '/inner': inner.origin,
        '/metadata': 'http://169.254.169.254/latest',
        '/file': 'file:///etc/passwd',
        '/credentials': `http://a:b@${response.req.headers.host}/x`,
        '/circle': '/circle',
      };
      response.writeHead(302, { location: targets[url] ?? '' }).end();
    });
    const http = trusting(outer.origin, inner.origin);
    for (const path of ['/inner', '/metadata', '/file', '/credentials', '/circle']) {
      expect(await failure(http(outer.origin + path)), path).toBe('redirect');
    }
    expect(inner.received).toHaveLength(0);
    expect(outer.received.filter(({ url }) => url === '/circle')).toHaveLength(6);
  });
});

describe('a request to somebody else', () => {
  it('reaches nothing on this machine or in its network, however the address is written', async () => {
    const inner = await server((_request, response) => response.end('secret'));
    const http = trusting('https://api.example.com');
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '0.0.0.0',
      '[::]',
      'localhost',
    ]) {
      expect(await failure(http(`http://${host}:${inner.port}/`)), host).toBe('refused-address');
    }
    for (const host of ['169.254.169.254', '[fd00:ec2::254]', '10.0.0.1', '192.168.1.1', '[fe80::1]']) {
      expect(await failure(http(`http://${host}/`)), host).toBe('refused-address');
    }
    expect(inner.received).toHaveLength(0);
  });

  it('is trusted by its whole origin, not by its host', async () => {
    const inner = await server((_request, response) => response.end('secret'));
    const http = trusting('http://127.0.0.1:9', `https://127.0.0.1:${inner.port}`);
    expect(await failure(http(inner.origin))).toBe('refused-address');
    expect(inner.received).toHaveLength(0);
  });

  it('goes by http and https only and never with credentials in the URL', async () => {
    const http = trusting();
    for (const url of [
      'file:///etc/passwd',
      'data:text/plain,a',
      'ftp://example.com/',
      'https://a:b@example.com/',
      'nowhere',
    ]) {
      expect(await failure(http(url)), url).toBe('refused-address');
    }
  });
});

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    'takes %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2002:7f00:1::',
    '2001:0:1::',
    '2001:db8::1',
    'localhost',
    '',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

it('an upgrade nobody asked for is a failure, not a silence', async () => {
  const listener = createServer((request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  opened.push(async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const http = outgoingHttp({ userAgent: 'test', trusted: [url] });
  await expect(http(url, { timeoutMs: 2_000 })).rejects.toBeInstanceOf(OutgoingFailed);
});

describe('for requests to addresses that people gave', () => {
  it('lets pass what is allowed, by the address that is connected to, and nothing beside it', async () => {
    const inner = await server((_request, response) => response.end('hello'));
    const asked: string[][] = [];
    const http = outgoingHttp({
      userAgent: 'test',
      trusted: [],
      allowed: (host, address) => asked.push([host, address]) > 0 && host === 'localhost',
    });
    expect((await http(`http://localhost:${inner.port}`)).text).toBe('hello');
    expect(asked).toContainEqual(['localhost', '127.0.0.1']);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]']) {
      expect(await failure(http(`http://${host}:${inner.port}`)), host).toBe('refused-address');
    }
    expect(inner.received).toHaveLength(1);
  });

  it('sends bytes as they are, takes a redirect for the answer and cuts what is too long', async () => {
    const peer = await server((_request, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end('x'.repeat(5000)),
    );
    const answer = await trusting(peer.origin)(peer.origin, {
      body: { type: 'application/json', text: '{ "a": "ü" }' },
      followRedirects: false,
      maxBytes: 1000,
      cut: true,
    });
    expect(answer).toMatchObject({ status: 302, text: 'x'.repeat(1000) });
    expect(peer.received).toMatchObject([{ method: 'POST', url: '/', body: '{ "a": "ü" }' }]);
  });
});

describe('with connections that are kept', () => {
  /** A server that counts its connections and drops each after so many answers, without saying so before. */
  async function counting(answers: number) {
    const sockets = new Set<Socket>();
    const answered = new WeakMap<Socket, number>();
    const peer = await server((_request, response) => {
      const { socket } = response;
      if (socket === null) return;
      sockets.add(socket);
      const count = (answered.get(socket) ?? 0) + 1;
      answered.set(socket, count);
      if (count > answers) socket.destroy();
      else response.end('hello');
    });
    return { ...peer, connections: () => sockets.size };
  }
  const keeping = (allowed: (host: string) => boolean) =>
    outgoingHttp({ userAgent: 'test', trusted: [], allowed, keepAlive: true });

  it('uses one for requests that follow each other, and judges each host still', async () => {
    const peer = await counting(100);
    const http = keeping((host) => host === 'localhost');
    for (let n = 0; n < 3; n++) expect((await http(`http://localhost:${peer.port}`)).text).toBe('hello');
    expect(peer.connections()).toBe(1);
    expect(await failure(http(peer.origin))).toBe('refused-address');
    expect(peer.received).toHaveLength(3);
  });

  it('sends once more what met a connection that was being closed, on a new one', async () => {
    const peer = await counting(1);
    const http = keeping(() => true);
    expect((await http(peer.origin, { json: 1 })).text).toBe('hello');
    expect((await http(peer.origin, { json: 2 })).text).toBe('hello');
    expect(peer.received.map(({ body }) => body)).toEqual(['1', '2', '2']);
    expect(peer.connections()).toBe(2);
  });

  it('fails when a new one is closed, too', async () => {
    const peer = await counting(0);
    expect(await failure(keeping(() => true)(peer.origin))).toBe('network');
    expect(peer.received).toHaveLength(1);
  });

  it('waits for an answer as long as it was told to, also longer than for the next request', async () => {
    const peer = await server((_request, response) => void setTimeout(() => response.end('late'), 4_500));
    expect((await keeping(() => true)(peer.origin)).text).toBe('late');
  });
});
