import type { Rule } from '@palisade/contract/firewall';
import { findings } from '@palisade/contract/firewall-verdict';

/** Looks at many rules beside the page. */
self.onmessage = ({ data }: MessageEvent<readonly Rule[]>) => {
  self.postMessage(findings(data));
};
