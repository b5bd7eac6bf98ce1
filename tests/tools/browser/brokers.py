"""Holdings as five brokers write them, in their own encodings: real, well-known instruments."""

import csv
import io

# A German bank: a title with commas, semicolons, decimal commas, a sum.
GERMAN = """Depotübersicht
Depotinhaber;Max Mustermann, München
Depotnummer;123 4567890
Stand;30.06.2025, 18:02 Uhr

WKN;ISIN;Bezeichnung;Stück/Nominale;Währung;Einstandskurs;Kurs;Kurswert in EUR;Gewinn/Verlust;G/V in %
716460;DE0007164600;SAP SE O.N.;250;EUR;98,40;258,15;64.537,50;39.937,50;162,35 %
840400;DE0008404005;ALLIANZ SE NA O.N.;40;EUR;201,10;344,10;13.764,00;5.720,00;71,11 %
723610;DE0007236101;SIEMENS AG NA O.N.;85;EUR;112,60;217,65;18.500,25;8.929,25;93,30 %
555750;DE0005557508;DT.TELEKOM AG NA;1.200;EUR;17,85;30,97;37.164,00;15.744,00;73,50 %
766403;DE0007664039;VOLKSWAGEN AG VZO O.N.;60;EUR;142,30;89,64;5.378,40;-3.159,60;-37,01 %
BASF11;DE000BASF111;BASF SE NA O.N.;150;EUR;51,20;41,86;6.279,00;-1.401,00;-18,24 %
BAY001;DE000BAY0017;BAYER AG NA O.N.;200;EUR;49,75;25,54;5.108,00;-4.842,00;-48,66 %
519000;DE0005190003;BAY.MOTOREN WERKE AG ST;70;EUR;78,90;75,46;5.282,20;-240,80;-4,36 %
710000;DE0007100000;MERCEDES-BENZ GRP NA O.N.;90;EUR;64,20;49,68;4.471,20;-1.306,80;-22,62 %
865985;US0378331005;APPLE INC.;55;USD;135,20;175,20;9.636,00;2.200,00;29,59 %
870747;US5949181045;MICROSOFT DL-,00000625;25;USD;240,75;423,40;10.585,00;4.566,25;75,87 %
906866;US0231351067;AMAZON.COM INC. DL-,01;48;USD;98,11;187,30;8.990,40;4.281,12;90,91 %
A1J4U4;NL0010273215;ASML HOLDING EO -,09;8;EUR;580,20;677,60;5.420,80;779,20;16,79 %
853292;FR0000121014;LVMH MOËT HENN. L. VUITTON EO 0,3;12;EUR;690,00;444,60;5.335,20;-2.944,80;-35,57 %
A0Q4DC;CH0038863350;NESTLÉ NAM. SF-,10;75;CHF;101,40;84,35;6.326,25;-1.278,75;-16,81 %
A0RPWH;IE00B4L5Y983;ISHSIII-CORE MSCI WORLD U.ETF USD ACC;310;EUR;68,12;98,44;30.516,40;9.399,20;44,51 %
A2H59Q;LU1681043599;AMUNDI MSCI WORLD UCITS ETF EUR;22;EUR;412,00;534,10;11.750,20;2.686,20;29,64 %
Summe;;;;EUR;;;249.044,80;79.057,12;46,51 %
"""

# A Swiss bank: a mark, tabs, apostrophes between thousands, cash without an identifier.
SWISS = """Vermögensausweis per 30.06.2025
Kunde:\tErika Müller-Süess
Portfolio:\t0835-1234567-8 / CHF

Anlagekategorie\tValor\tISIN\tBezeichnung\tWhg\tBestand\tKurs\tKurswert CHF\tAnteil
Liquidität\t\t\tPrivatkonto CHF\tCHF\t\t\t48'210.35\t9.4%
Liquidität\t\t\tKonto USD\tUSD\t\t\t12'005.10\t2.3%
Aktien Schweiz\t3886335\tCH0038863350\tN Nestlé SA\tCHF\t1'200\t78.83\t94'596.00\t18.4%
Aktien Schweiz\t1200526\tCH0012005267\tN Novartis AG\tCHF\t850\t96.17\t81'744.50\t15.9%
Aktien Schweiz\t1203204\tCH0012032048\tGS Roche Holding AG\tCHF\t210\t258.40\t54'264.00\t10.6%
Aktien Schweiz\t24476758\tCH0244767585\tN UBS Group AG\tCHF\t2'400\t26.83\t64'392.00\t12.5%
Aktien Schweiz\t1107539\tCH0011075394\tN Zurich Insurance Group AG\tCHF\t95\t554.60\t52'687.00\t10.3%
Aktien Ausland\t908440\tUS0378331005\tApple Inc.\tUSD\t120\t205.17\t19'540.00\t3.8%
Aktien Ausland\t951692\tUS5949181045\tMicrosoft Corp.\tUSD\t60\t497.41\t23'685.00\t4.6%
Aktien Ausland\t645156\tUS0231351067\tAmazon.com Inc.\tUSD\t75\t219.39\t13'060.00\t2.5%
Aktien Ausland\t345952\tDE0007164600\tSAP SE\tEUR\t40\t258.15\t9'652.00\t1.9%
Aktien Ausland\t11283680\tNL0010273215\tASML Holding N.V.\tEUR\t10\t677.60\t6'334.00\t1.2%
Aktien Ausland\t887756\tJP3633400001\tToyota Motor Corp.\tJPY\t700\t2'494\t9'610.00\t1.9%
Fonds\t10608388\tIE00B4L5Y983\tiShares Core MSCI World UCITS ETF\tUSD\t180\t115.68\t16'530.00\t3.2%
Total\t\t\t\t\t\t\t513'309.95\t100.0%
"""

# An American broker: an account above the table, all cells in quotes, a total and disclaimers below.
AMERICAN = '''"Positions for account Individual ...482 as of 04:00 PM ET, 06/30/2025"

"Symbol","Description","Qty (Quantity)","Price","Mkt Val (Market Value)","Day Chng % (Day Change %)","Cost Basis","Gain % (Gain/Loss %)","Security Type"
"AAPL","APPLE INC","120","$205.17","$24,620.40","-0.83%","$14,210.00","73.26%","Equity"
"MSFT","MICROSOFT CORP","60","$497.41","$29,844.60","0.3%","$16,800.00","77.65%","Equity"
"AMZN","AMAZON.COM INC","75","$219.39","$16,454.25","-1.75%","$9,930.00","65.7%","Equity"
"BRK/B","BERKSHIRE HATHAWAY INC CLASS B","30","$485.77","$14,573.10","-0.2%","$8,520.00","71.05%","Equity"
"GOOGL","ALPHABET INC CLASS A","90","$176.23","$15,860.70","-1.3%","$9,270.00","71.1%","Equity"
"NVDA","NVIDIA CORP","200","$157.99","$31,598.00","0.15%","$9,100.00","247.23%","Equity"
"JPM","JPMORGAN CHASE & CO","45","$289.91","$13,045.95","0.98%","$6,300.00","107.08%","Equity"
"KO","COCA-COLA CO","150","$70.75","$10,612.50","0.4%","$8,700.00","21.98%","Equity"
"PG","PROCTER & GAMBLE CO","55","$159.32","$8,762.60","0.1%","$7,590.00","15.45%","Equity"
"XOM","EXXON MOBIL CORP","80","$107.80","$8,624.00","-1.4%","$7,120.00","21.12%","Equity"
"IBM","INTERNATIONAL BUSINESS MACHS CORP","25","$294.78","$7,369.50","1.7%","$3,330.00","121.31%","Equity"
"F","FORD MTR CO DEL","500","$10.85","$5,425.00","0.7%","$6,100.00","-11.07%","Equity"
"SPY","SPDR S&P 500 ETF TRUST","40","$617.85","$24,714.00","0.5%","$17,200.00","43.69%","ETFs & Closed End Funds"
"Cash & Cash Investments","--","--","--","$12,408.22","0%","--","--","Cash and Money Market"
"Account Total","--","--","--","$223,912.82","0.11%","--","--","--"

"The market data and information provided is for informational purposes only. Past performance, of course, may differ."
"Date downloaded 06/30/2025 7:14 PM ET"
'''

# A British platform: SEDOL codes with zeros in front, prices in pence.
BRITISH = """Client Name:,Ms J Smith
Client Number:,0912345
Spreadsheet created at,30-06-2025 14:51

Code,Stock,SEDOL,ISIN,Units held,Price (pence),Value (£),Cost (£),Gain/loss (£)
BP.,BP Plc Ordinary US$0.25,0798059,GB0007980591,"2,150",365.30,"7,853.95","8,310.00",-456.05
VOD,Vodafone Group plc Ordinary USD0.20 20/21,BH4HKS3,GB00BH4HKS39,"9,400",77.72,"7,305.68","9,020.00","-1,714.32"
AZN,AstraZeneca plc Ordinary US$0.25,0989529,GB0009895292,120,"10,120.00","12,144.00","9,310.00","2,834.00"
GSK,GSK plc Ordinary 31.25p,BN7SWP6,GB00BN7SWP63,640,"1,389.00","8,889.60","9,702.00",-812.40
SHEL,Shell plc Ordinary EUR0.07,BP6MXD8,GB00BP6MXD84,510,"2,553.50","13,022.85","10,840.00","2,182.85"
HSBA,HSBC Holdings plc Ordinary USD0.50,0540528,GB0005405286,"1,800",881.80,"15,872.40","9,120.00","6,752.40"
BARC,Barclays plc Ordinary 25p,3134865,GB0031348658,"3,300",337.15,"11,125.95","6,040.00","5,085.95"
LLOY,Lloyds Banking Group plc Ordinary 10p,0870612,GB0008706128,"14,000",76.70,"10,738.00","6,610.00","4,128.00"
TSCO,Tesco plc Ordinary 6 1/3p,BLGZ986,GB00BLGZ9862,"2,700",401.30,"10,835.10","7,012.00","3,823.10"
DGE,Diageo plc Ordinary 28 101/108p,0237400,GB0002374006,230,"1,827.50","4,203.25","7,150.00","-2,946.75"
RIO,Rio Tinto plc Ordinary 10p,0718875,GB0007188757,140,"4,244.00","5,941.60","7,320.00","-1,378.40"
BATS,British American Tobacco plc Ordinary 25p,0287580,GB0002875804,310,"3,461.00","10,729.10","8,450.00","2,279.10"
NG.,National Grid plc Ordinary 12.4295p,BDR05C0,GB00BDR05C01,950,"1,061.50","10,084.25","9,120.00",964.25
REL,RELX plc Ordinary 14.4397p,B2B0DG9,GB00B2B0DG97,260,"3,936.00","10,233.60","5,180.00","5,053.60"
RR.,Rolls-Royce Holdings plc Ordinary 20p,B63H849,GB00B63H8491,"1,600",967.20,"15,475.20","3,020.00","12,455.20"
,Totals,,,,,"154,454.53","116,204.00","38,250.53"
"""

# A Japanese broker: Shift_JIS, codes of four digits, one line in full width.
JAPANESE = """保有証券一覧
口座番号,123-4567890
作成日,2025/06/30

銘柄コード,銘柄名,市場,保有数量,取得単価,現在値,評価額,評価損益
7203,トヨタ自動車,東証プライム,500,"2,110","2,494","1,247,000","192,000"
6758,ソニーグループ,東証プライム,"1,000","2,480","3,730","3,730,000","1,250,000"
7974,任天堂,東証プライム,200,"7,520","13,880","2,776,000","1,272,000"
8306,三菱ＵＦＪフィナンシャル・グループ,東証プライム,"1,500","1,040","1,983","2,974,500","1,414,500"
9984,ソフトバンクグループ,東証プライム,300,"6,200","10,515","3,154,500","1,294,500"
6861,キーエンス,東証プライム,100,"58,300","57,840","5,784,000","-46,000"
9432,日本電信電話,東証プライム,"10,000",158,154,"1,540,000","-40,000"
8058,三菱商事,東証プライム,400,"2,050","2,888","1,155,200","335,200"
8001,伊藤忠商事,東証プライム,200,"5,110","7,557","1,511,400","489,400"
6501,日立製作所,東証プライム,500,"2,260","4,205","2,102,500","972,500"
4063,信越化学工業,東証プライム,300,"4,620","4,773","1,431,900","45,900"
８０３５,東京エレクトロン,東証プライム,１００,"22,150","27,685","2,768,500","553,500"
6098,リクルートホールディングス,東証プライム,200,"5,050","8,537","1,707,400","697,400"
4502,武田薬品工業,東証プライム,400,"4,180","4,424","1,769,600","97,600"
7267,ホンダ,東証プライム,600,"1,620","1,395","837,000","-135,000"
合計,,,,,,"34,489,500","8,393,100"
"""

# The name of each file, its bytes, and the column of its identifiers.
FILES = {
    "german": ("Depotuebersicht.csv", GERMAN.replace("\n", "\r\n").encode("cp1252")),
    "swiss": ("Vermoegensausweis.csv", b"\xef\xbb\xbf" + SWISS.replace("\n", "\r\n").encode()),
    "american": ("Individual-Positions.csv", AMERICAN.encode()),
    "british": ("account-summary.csv", BRITISH.replace("\n", "\r\n").encode("cp1252")),
    "japanese": ("hoyu-shoken.csv", JAPANESE.replace("\n", "\r\n").encode("cp932")),
}


def rows_of(text, delimiter):
    """The cells of a text."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
