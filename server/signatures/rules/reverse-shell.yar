/*
  Commands that open a command window towards someone else's machine.
  A finding needs the command where a command can stand (start of a line, after ; & | or a
  quote of a scheduled job) with an address to call, not a mention in a sentence.
*/

rule ReverseShell_Bash_DevTcp
{
  meta:
    description = "A command that gives another computer full use of this one's command line."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/004/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Bash.DevTcp"
  strings:
    $line = /(^|[\r\n;&|(\{"']|\* |ExecStart=)[ \t]{0,16}((nohup|setsid|exec|sudo|root|-c|sh|bash|\/bin\/bash|\/bin\/sh)[ \t"']{1,4}){0,4}(\/(usr\/)?bin\/)?(ba|z|k)?sh[ \t]{1,4}-i[ \t]{0,4}(>&|&>|1?>)[ \t]{0,4}\/dev\/(tcp|udp)\/[A-Za-z0-9.$\{}_-]{1,80}\/[0-9$][A-Za-z0-9_\{}]{0,16}/
    $stdin = /0[ \t]{0,2}(>&1|<&1|<&[0-9]{1,3}|<&-)/
  condition:
    filesize < 1MB and $line and $stdin and (filesize < 2KB or uint16be(0) == 0x2321)
}

rule ReverseShell_Bash_Descriptor_Loop
{
  meta:
    description = "A script that takes commands from another computer and sends the results back."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/004/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Bash.DescriptorLoop"
  strings:
    $loop = /exec[ \t]{1,4}([0-9]{1,3})[ \t]{0,2}<>[ \t]{0,2}\/dev\/tcp\/[^\n;]{3,100}[;\n][^\n]{0,20}(cat|while).{1,202}2?>&[0-9]{1,3}[^\n]{0,40}done/s
    $sh = /exec[ \t]{1,4}[0-9]{1,3}[ \t]{0,2}<>[ \t]{0,2}\/dev\/tcp\/[^\n;]{3,100}[;\n][ \t]{0,8}(\/bin\/)?(ba)?sh[ \t]{1,4}(-i[ \t]{1,4})?<&[0-9]{1,3}[ \t]{1,4}1?>&[0-9]{1,3}/
  condition:
    filesize < 1MB and any of them and (filesize < 2KB or uint16be(0) == 0x2321)
}

rule ReverseShell_Netcat_Exec
{
  meta:
    description = "A command that hands this computer's command line to another one through netcat."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/004/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Netcat.Exec"
  strings:
    $exec = /(^|[\r\n;&|(\{"']|\* )[ \t]{0,16}((nohup|setsid|sudo|root|exec|busybox|\/bin\/busybox)[ \t]{1,4}){0,3}(\/(usr\/)?bin\/)?(nc|ncat|netcat)(\.traditional|\.exe)?[ \t]{1,4}(-[a-z]{1,4}[ \t]{1,4}){0,3}(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9-]{1,60}\.[a-z0-9.-]{2,60}|\$[A-Za-z_]{1,16})[ \t]{1,4}[0-9$][A-Za-z0-9_]{0,16}[ \t]{1,4}(-[a-z]{0,3}[ec]|--exec|--sh-exec)[ \t]{1,4}["']?(\/bin\/(ba|da|z)?sh|(ba)?sh\b|cmd(\.exe)?|powershell)/
    $first = /(^|[\r\n;&|(\{"']|\* )[ \t]{0,16}((nohup|setsid|sudo|root|exec|busybox|\/bin\/busybox)[ \t]{1,4}){0,3}(\/(usr\/)?bin\/)?(nc|ncat|netcat)(\.traditional|\.exe)?[ \t]{1,4}(-[a-z]{1,4}[ \t]{1,4}){0,2}(-[a-z]{0,3}e|-c|--exec|--sh-exec)[ \t]{1,4}["']?(\/bin\/(ba|da|z)?sh|(ba|z)?sh|cmd\.exe|powershell)(["']|[ \t]-i)?["']?[ \t]{1,4}(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9-]{1,60}\.[a-z0-9.-]{2,60}|\$[A-Za-z_]{1,16})[ \t]{1,4}[0-9$]/
  condition:
    filesize < 1MB and any of them and (filesize < 2KB or uint16be(0) == 0x2321)
}

rule ReverseShell_Named_Pipe
{
  meta:
    description = "A command that ties this computer's command line to another one through a named pipe."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/004/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Shell.NamedPipe"
  strings:
    $pipe = /(^|[\r\n;&|(\{"'])[ \t]{0,16}(mkfifo|mknod)[ \t]{1,4}[\/A-Za-z0-9_.$-]{1,40}( p)?[ \t]{0,4}(;|&&|&|\n).{0,201}(\/bin\/)?(ba)?sh([ \t]{1,4}-i)?[ \t]{0,4}(<[^\n|]{1,30})?(2>&1)?[ \t]{0,4}\|[ \t]{0,4}(\/(usr\/)?bin\/)?(nc|ncat|netcat|telnet|openssl[ \t]{1,4}s_client)\b[^\n]{0,100}>[ \t]{0,2}[\/A-Za-z0-9_.$-]/s
    $sh_in = /(mkfifo|mknod)[ \t]{1,4}[\/A-Za-z0-9_.$-]{1,40}( p)?[ \t]{0,4}(;|&&|&|\n)[ \t]{0,4}(\/bin\/)?(ba)?sh[ \t]{1,4}(-i[ \t]{1,4})?<[^\n|]{1,40}\|[ \t]{0,4}openssl[ \t]{1,4}s_client[^\n]{1,100}>/
  condition:
    filesize < 1MB and any of them and (filesize < 2KB or uint16be(0) == 0x2321)
}

rule ReverseShell_Socat_Exec
{
  meta:
    description = "A command that hands this computer's command line to another one through socat."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/004/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Socat.Exec"
  strings:
    $a = /(^|[\r\n;&|(\{"'])[ \t]{0,16}((nohup|setsid|sudo|root)[ \t]{1,4}){0,3}[\/a-z.]{0,24}socat[ \t].{0,201}(exec|system):["']?[^\n"',]{0,30}(ba)?sh.{0,201}(tcp|tcp4|openssl|openssl-connect|udp):[A-Za-z0-9.$_-]{1,80}:[0-9$]/s nocase
    $b = /(^|[\r\n;&|(\{"'])[ \t]{0,16}((nohup|setsid|sudo|root)[ \t]{1,4}){0,3}[\/a-z.]{0,24}socat[ \t].{0,201}(tcp|tcp4|openssl|openssl-connect|udp)(-connect)?:[A-Za-z0-9.$_-]{1,80}:[0-9$].{0,201}(exec|system):["']?[^\n"',]{0,30}(ba)?sh/s nocase
  condition:
    filesize < 1MB and any of them and (filesize < 2KB or uint16be(0) == 0x2321)
}

rule ReverseShell_Python_Socket
{
  meta:
    description = "A Python command that gives another computer full use of this one's command line."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/006/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Python.Socket"
  strings:
    $dup = /socket\.socket\(.{0,201}\)[;\r\n \t]{1,12}[^;\n]{0,20}\.connect\(\(.{3,204}\)\)[;\r\n \t]{1,12}[^\n]{0,40}os\.dup2\([a-z]{1,8}\.fileno\(\),[ \t]{0,2}0\).{0,300}(pty\.spawn|subprocess\.(call|Popen|run)|os\.system|os\.exec)[^\n]{0,20}sh["']/s
    $loop = /\[os\.dup2\([a-z]{1,8}\.fileno\(\),[ \t]{0,2}[a-z]{1,4}\)[ \t]{0,2}for[ \t][a-z]{1,4}[ \t]in[ \t]?\(0,[ \t]?1,[ \t]?2\)\][;\r\n \t]{1,12}pty\.spawn\(/
    $map = /map\(lambda [a-z]{1,4}:[ \t]{0,2}os\.dup2\([^\n]{1,60}pty\.spawn\(/
  condition:
    filesize < 256KB and any of them and not uint8(0) == 0x3c
}

rule ReverseShell_Perl_Socket
{
  meta:
    description = "A Perl command that gives another computer full use of this one's command line."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.Perl.Socket"
  strings:
    $dup = /socket\([A-Z]{1,12},[ \t]{0,2}[PA]F_INET,[^\n]{1,60}[;\n].{0,201}connect\(.{1,202}open\([ \t]{0,2}STDIN,[ \t]{0,2}["']<?>?&[A-Z]{1,12}["']\).{0,201}(exec|system)[ \t]{0,2}[(\{]?[ \t]{0,2}["'][^"'\n]{0,20}sh( -i)?["']/s
    $io = /(new[ \t]IO::Socket::INET|IO::Socket::INET->new)[ \t]?\(.{1,202}STDIN->fdopen\(\$[a-z]{1,8},[ \t]{0,2}["']?r["']?\).{1,202}system/s nocase
  condition:
    filesize < 256KB and any of them and not uint8(0) == 0x3c
}

rule ReverseShell_PHP_Fsockopen
{
  meta:
    description = "A PHP page or command that opens this server's command line to another computer."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1505/003/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.PHP.Fsockopen"
  strings:
    $oneliner = /fsockopen\([^;\n]{3,80}\);[ \t\r\n]{0,8}(\$[a-z]{1,8}[ \t]?=[ \t]?)?(exec|shell_exec|system|passthru|popen|proc_open|`)[ \t(]{0,4}["'`]?(\/bin\/)?(ba)?sh([ \t]{1,2}-i)?[ \t"',]{1,4}(<&[0-9$]|array)/
    $script1 = /\$shell[ \t]{0,4}=[ \t]{0,4}['"][^'"\n]{0,40}\/bin\/sh -i['"]/
    $script2 = "fsockopen(" nocase
    $script3 = "proc_open(" nocase
    $script4 = /stream_set_blocking\(\$(pipes\[[0-2]\]|sock),[ \t]{0,2}(0|false)\)/
  condition:
    filesize < 256KB and ($oneliner or all of ($script*))
}

rule ReverseShell_PowerShell_TcpClient
{
  meta:
    description = "A PowerShell command that takes commands from another computer and runs them here."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/001/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.PowerShell.TcpClient"
  strings:
    $client = /Net\.Sockets\.TCPClient[^\n]{0,6}\([^\n)]{3,80}\)/ nocase ascii wide
    $stream = ".GetStream()" nocase ascii wide
    $run = /(iex|Invoke-Expression)[ \t(]{1,4}(-Command[ \t]{1,4})?\$[A-Za-z]{1,16}[ \t]{1,4}2>&1[ \t]{0,4}\|[ \t]{0,4}Out-String/ nocase ascii wide
    $read = /while[ \t]{0,4}\([ \t]{0,4}\([ \t]{0,4}\$[A-Za-z]{1,16}[ \t]{0,4}=[ \t]{0,4}\$[A-Za-z]{1,16}\.Read\(\$/ nocase ascii wide
  condition:
    filesize < 1MB and $client and $stream and $run and $read and not uint8(0) == 0x3c
}

rule ReverseShell_NodeJS_Socket
{
  meta:
    description = "A JavaScript program that ties this computer's command line to another one."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/007/"
    verdict = "infected"
    family = "reverse-shell"
    threat = "ReverseShell.NodeJS.Socket"
  strings:
    $spawn = /\.spawn\([ \t]{0,2}["'](\/bin\/(ba|z)?sh|(ba)?sh|cmd(\.exe)?|powershell(\.exe)?)["'][ \t]{0,2},/
    $connect = /\.connect\([ \t]{0,2}.{1,202},.{0,201}(function|=>)/s
    $pipe_in = /\.pipe\([a-z_]{1,12}\.stdin\)/ nocase
    $pipe_out = /\.stdout\.pipe\([a-z_]{1,12}\)/ nocase
    $net = /require\([ \t]{0,2}["'](node:)?net["'][ \t]{0,2}\)/
  condition:
    filesize < 64KB and all of them
}
