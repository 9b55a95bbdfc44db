import { expect, test } from 'vitest';
import { threatWords } from './threat-words.ts';

test.each([
  ['Stealer.Script.BrowserPasswords', 'Steals passwords and private files'],
  ['HackTool.Windows.Mimikatz', 'Steals Windows passwords'],
  ['Win.Ransomware.WannaCry-9856297-0', 'Ransomware: locks files and demands money'],
  ['Webshell.PHP.EvalRequest', 'Lets a stranger control a website'],
  ['Win.Trojan.Downloader-12', 'Brings other programs onto the computer'],
  ['Miner.Config', 'Uses your computer to mine cryptocurrency'],
])('tells from the name %s what it does', (threat, words) => {
  expect(threatWords(threat)).toBe(words);
});

test.each(['PDF.LaunchAction', 'Known by SHA-256', 'Scampi.Family', 'EICAR-Test-File', ''])('tells nothing of %j', (threat) => {
  expect(threatWords(threat)).toBeUndefined();
});
