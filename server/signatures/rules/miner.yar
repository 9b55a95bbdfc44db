/*
  Programs that use this computer to earn cryptocurrency for someone else.
  Mining by choice is legal: the plain program and its plain configuration are suspicious only.
*/

rule Miner_Config_Hidden
{
  meta:
    description = "Settings of a coin miner that runs unseen in the background."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1496/"
    verdict = "infected"
    family = "miner"
    threat = "Miner.Config.Hidden"
  strings:
    $donate = "\"donate-level\"" nocase
    $pools = "\"pools\"" nocase
    $url = /"url"[ \t]{0,4}:[ \t]{0,4}"[^"\n]{4,120}:[0-9]{2,5}"/
    $user = /"user"[ \t]{0,4}:[ \t]{0,4}"[48][0-9A-B][1-9A-HJ-NP-Za-km-z]{93}/
    $background = /"background"[ \t]{0,4}:[ \t]{0,4}true/
    $quiet = /("donate-level"[ \t]{0,4}:[ \t]{0,4}0|"print-time"[ \t]{0,4}:[ \t]{0,4}([0-9]{4,6})|"log-file"[ \t]{0,4}:[ \t]{0,4}null|"pause-on-active"[ \t]{0,4}:[ \t]{0,4}true|"(title|watch)"[ \t]{0,4}:[ \t]{0,4}false|"syslog"[ \t]{0,4}:[ \t]{0,4}false)/
  condition:
    filesize < 256KB and $donate and $pools and $url and $user and $background and $quiet
}

rule Miner_Config_Plain
{
  meta:
    description = "Settings of a coin miner."
    severity = "low"
    reference = "https://xmrig.com/docs/miner/config"
    verdict = "suspicious"
    family = "miner"
    threat = "Miner.Config"
  strings:
    $donate = "\"donate-level\"" nocase
    $pools = "\"pools\"" nocase
    $algo = /"(algo|coin)"[ \t]{0,4}:[ \t]{0,4}/
    $url = /"url"[ \t]{0,4}:[ \t]{0,4}"[^"\n]{4,120}:[0-9]{2,5}"/
  condition:
    filesize < 256KB and all of them
}

rule Miner_Start_Script
{
  meta:
    description = "A script that starts a hidden coin miner."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1496/"
    verdict = "infected"
    family = "miner"
    threat = "Miner.Script.Start"
  strings:
    $linux = /(nohup|setsid|\/tmp\/|\/var\/tmp\/|\/dev\/shm\/|\.\/\.).{1,202}(-o|--url)[ \t=]{1,3}(stratum\+(tcp|ssl|tcps):[\/]{2})?[a-z0-9.-]{4,80}:[0-9]{2,5}.{0,201}(-u|--user)[ \t=]{1,3}[A-Za-z0-9._$\{}-]{4,120}.{0,201}(>[ \t]{0,2}\/dev\/null|--background|-B\b|&[ \t]{0,4}\n)/s
    $windows = /(start \/b|hidden |\.run[ (]).{0,201}(xmrig|minerd|cpuminer|nbminer|t-rex|phoenixminer|lolminer|stratum\+).{0,201}(-o|--url|-pool|--pool)[ \t=]{1,3}/s nocase
    $pool = /(stratum\+(tcp|ssl|tcps):|xmrig|minerd|cpuminer|cryptonight|randomx|minexmr|supportxmr|moneroocean|nanopool|hashvault|c3pool|2miners|f2pool|--donate-level)/ nocase
  condition:
    filesize < 1MB and $pool and any of ($linux, $windows) and not uint8(0) == 0x3c
}

rule Miner_Rival_Killer_Script
{
  meta:
    description = "A script that removes other people's coin miners in order to install its own."
    severity = "high"
    reference = "https://attack.mitre.org/groups/G0139/"
    verdict = "infected"
    family = "miner"
    threat = "Miner.Script.RivalKiller"
  strings:
    $killer = /(kill|killall|kill -9|grep)[ \t]/
    $kill = /[lp9][ \t][^\n]{0,79}(kdevtmpfsi|kinsing|kworkerds|xmrig|xmr-stak|sysupdate|stratum|networkservice|cryptonight|minerd|ddgs|watchbog)/
    $clean = /(crontab -r|chattr[ \t]{1,4}-[iaRu]{1,4}[ \t][^\n]{0,40}|setenforce 0|aliyun\.(one|service)|aegis_client|cloudmonitor|history -c|ulimit -n 65535|SELINUX=disabled|iptables -F|ufw disable|\/etc\/ld\.so\.preload)/
    $fetch = /(curl|wget|lwp-download)[ \t]/
    $run = /(nohup|chmod[ \t]{1,4}(\+x|777)|\|[ \t]{0,2}(ba)?sh)/
  condition:
    filesize < 1MB and #killer >= 3 and #kill >= 3 and #clean >= 2 and $fetch and $run and not uint8(0) == 0x3c
}

rule Miner_Web_Page
{
  meta:
    description = "A web page that mines cryptocurrency on your computer while it is open."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1496/"
    verdict = "infected"
    family = "miner"
    threat = "Miner.HTML.Script"
  strings:
    $script = /["'=\/][^"'> \n]{0,80}(coinhive|coin-hive|cryptoloot|crypto-loot|webminepool|coinimp|deepminer|minero|jsecoin|authedmine|webmr)[^"'> \n]{0,60}\.js/ nocase
    $start = /new[ \t]{1,4}(CoinHive|CryptoLoot|CRLT|deepMiner|Client|WMP|Minero)\.(Anonymous|User|Token)\([ \t]{0,2}["'][A-Za-z0-9]{16,80}["']/
    $go = /\.start\(/
  condition:
    filesize < 8MB and $start and $go and ($script or uint8(0) == 0x3c)
}
