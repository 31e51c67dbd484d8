/** What a person does with addresses that are not the application's own. */
export interface Browsing {
  /** Opens an address of the server, with the cookies of earlier ones, and tells where that sends its visitors. */
  visit(url: string): Promise<URL>;
  /** Opens an address at which the server asks whether to go on, and agrees. */
  consent(url: string): Promise<URL>;
}

/** As browsers do it, up to what sends them on, which is not followed. */
export function browse(): Browsing {
  let cookie = '';
  async function open(url: string, body?: URLSearchParams): Promise<Response> {
    const answer = await fetch(url, {
      redirect: 'manual',
      ...(cookie === '' ? {} : { headers: { cookie } }),
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return answer;
  }
  return {
    visit: async (url) => await redirectOf(await open(url)),
    async consent(url) {
      const html = await (await open(url)).text();
      const inputs = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
      const form = new URLSearchParams();
      for (const [, name = '', value = ''] of inputs) form.set(name, value);
      const action = /<form method="post" action="([^"]+)">/.exec(html)?.[1];
      if (action === undefined) throw new Error(`nothing was asked: ${html}`);
      return await onwardOf(await open(new URL(action, url).href, form));
    },
  };
}

async function redirectOf(answer: Response): Promise<URL> {
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
  return new URL(location);
}

/** The answer to a form is a page, which leads on by itself. */
async function onwardOf(answer: Response): Promise<URL> {
  const html = await answer.text();
  const target = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(html)?.[1];
  if (target === undefined) throw new Error(`${answer.status} leads nowhere: ${html}`);
  return new URL(target.replaceAll('&amp;', '&'));
}
